/* Entries of allow and deny lists, and hosts that somebody might ask for.
 *
 * Both come from a small family of names, so that an entry and a host are nearly always
 * close to each other: equal but for a case, a dot, a label, a byte. What is far apart
 * tells nothing. The shapes are those of attacks on allow lists. */

const LABELS = [
    ...['a', 'b', 'www', 'api', 'app', 'cdn', 'example', 'evil', 'allowed', 'x', 'y'],
    ...['Example', 'API', 'a-b', '-a', 'a-', 'a--b', '_dmarc', 'my_host', '1a', '0x7f'],
    ...['127', '10', '0', 'xn--bcher-kva', 'XN--Bcher-KVA', 'localhost', 'com', 'co'],
];
/* Labels that IDNA maps (case, width, composition), keeps or refuses; where there is an
 * A-label, it stands behind them. */
const FOREIGN = {
    bücher: 'xn--bcher-kva',
    BÜCHER: 'xn--bcher-kva',
    'bu\u0308cher': 'xn--bcher-kva',
    exämple: 'xn--exmple-cua',
    пример: 'xn--e1afmkfd',
    例え: 'xn--r8jz45g',
    straße: 'xn--strae-oqa',
    ｗｗｗ: 'www',
    ＥＸＡＭＰＬＥ: 'example',
    'a\u00adb': 'ab',
    'a\u200db': 'xn--ab-m1t',
    '\u2665': 'xn--g6h',
    'é\u0301': 'xn--9ca33z',
    'a\u3002b': 'a.b',
    'a\u0000b': 'a',
    рф: 'xn--p1ai',
};
const FOREIGN_LABELS = Object.keys(FOREIGN);
const ENDS = [
    ...['test', 'example', 'test', 'example', 'test', 'example.com', 'com', 'co.uk'],
    ...['github.io', 'internal', 'local', 'localhost', 'TEST', 'arpa', '1', '0x1', 'ck'],
    ...['www.ck', 'kawasaki.jp', 'xn--p1ai', 'рф'],
];
const V4 = [
    ...['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.0.2.1', '203.0.113.9', '0.0.0.0'],
    ...['255.255.255.255', '100.100.100.200', '8.8.8.8', '1.2.3.4'],
];
const V6 = [
    ...['::1', '::', '2001:db8::1', 'fe80::1', 'fd00:ec2::254', '64:ff9b::7f00:1'],
    ...['2002:7f00:1::', '::ffff:1.2.3.4', '::ffff:7f00:1', '::127.0.0.1', 'ff02::1'],
    ...['2001:db8:0:0:1:0:0:1', '1:2:3:4:5:6:7:8', '::ffff:0:127.0.0.1'],
];
const PORTS = ['443', '80', '22', '8443', '1', '65535'];
const BAD_PORTS = [
    ...['0', '070', '65536', '65979', '', '-1', '+443', ' 443', '443 ', '443abc', '4e2'],
    ...['999999', '443:80', '443.', '0x1bb', '４４３'],
];
const RANGES = ['80-443', '443-80', '443-443', '1-65535', '0-80', '80-', '-80', '80-65536', '80-90-99'];
const GLUE = ['\0', '%00', '@', '#', '?', '/', '\\', ' ', '\t', '\r\n', ';', '%2e', '\u3002', ':', '*'];

const long = (random, length) => 'abcdefghij'.repeat(30).slice(random.below(9)).slice(0, length);

function label(random) {
    if (random.chance(6)) return random.pick(FOREIGN_LABELS);
    if (random.chance(3)) return long(random, random.pick([62, 63, 64]));
    return random.pick(LABELS);
}

/* Three names that share an ending, and an address of each kind. */
export function family(random) {
    const end = `${label(random)}.${random.pick(ENDS)}`;
    const names = [end];

    for (let i = 0; i < 3; i++) {
        let name = random.chance(60) ? end : `${label(random)}.${random.pick(ENDS)}`;

        for (let deep = random.below(3); deep > 0; deep--) name = `${label(random)}.${name}`;
        names.push(name);
    }
    if (random.chance(25)) names.push('localhost');
    if (random.chance(3)) names.push(`${'abcdefghi.'.repeat(random.pick([24, 25, 26]))}test`);
    return { names, v4: random.pick(V4), v6: random.pick(V6) };
}

/* Spellings of one IPv4 address that inet_aton() takes, and some that nobody takes. */
function spellV4(random, text) {
    const [a, b, c, d] = text.split('.').map(Number);
    const whole = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
    const hex = n => `0x${n.toString(16)}`;
    const octal = n => `0${n.toString(8)}`;

    return random.pick([
        ...[`${whole}`, hex(whole), octal(whole), `${a}.${whole & 0xffffff}`],
        ...[`${a}.${b}.${whole & 0xffff}`, `${hex(a)}.${b}.${c}.${d}`, `${hex(a)}.${whole & 0xffffff}`],
        ...[`${octal(a)}.${b}.${c}.${d}`, `${a}.${b}.${c}`, `${a}.${b}.${c}.${d}.`, `${text}..`],
        ...[`256.${b}.${c}.${d}`, `${a}.${b}.${c}.${d}.5`, `0${a}.${b}.${c}.${d}`, `${a}.${b}.${c}.0x`],
        ...[`${hex(whole).toUpperCase()}`, `${text}x`, `x${text}`, `${a}.${b}.${c}.${d + 256}`],
    ]);
}

function groups(text) {
    const host = new URL(`http://[${text}]/`).hostname.slice(1, -1);
    const [head, tail] = host.split('::');
    const lead = head ? head.split(':') : [];
    const rest = tail ? tail.split(':') : [];

    if (tail === undefined) return lead;
    return [...lead, ...Array(8 - lead.length - rest.length).fill('0'), ...rest];
}

/* Spellings of one IPv6 address (RFC 4291 2.2), and some that are none. */
function spellV6(random, text) {
    const all = groups(text);

    return random.pick([
        ...[all.join(':'), all.map(g => g.padStart(4, '0')).join(':'), text.toUpperCase()],
        ...[`${text}%eth0`, `${text}%25eth0`, `${text}%x.example.test`, `${text}:`, `:${text}`],
        ...[`${all.join(':')}:1`, all.slice(0, 7).join(':'), `${text}g`, `0${text}`, `${text}.`],
        ...[`[${text}]`, `${text}/64`, all.map(g => g.padStart(5, '0')).join(':')],
    ]);
}

function flipCase(random, text) {
    return [...text].map(c => (random.chance(40) ? (c.toUpperCase() === c ? c.toLowerCase() : c.toUpperCase()) : c)).join('');
}

/* What a person or a program writes into a list: right, sloppy, or wrong. */
function entryHost(random, kin) {
    const name = random.pick(kin.names);
    const cut = name.indexOf('.') + 1;

    if (random.chance(3)) return '*';
    if (random.chance(58)) return random.chance(40) ? `*.${name}` : name;
    if (random.chance(12)) return random.chance(60) ? kin.v4 : spellV4(random, kin.v4);
    if (random.chance(14)) return `[${random.chance(60) ? kin.v6 : spellV6(random, kin.v6)}]`;
    return random.pick([
        ...[flipCase(random, name), `${name}.`, `${name}..`, `.${name}`, `*.${name}.`, name.split('.')[0]],
        ...[`${label(random)}.*.${name}`, `${label(random)}.*.${name.slice(cut)}`, `*.*.${name}`],
        ...[`${label(random)}.*.*.${name}`, `*${name}`, `a*.${name}`, `*.${name.split('.').pop()}`],
        ...[`*.${spellV4(random, kin.v4)}`, `*.0.0.1`, `*.[${kin.v6}]`, `[${kin.v4}]`, kin.v6],
        ...[`https://${name}`, `${name}/path`, `user@${name}`, `${name}?q`, `${name}#f`, ` ${name}`],
        ...[`${name} `, name.replace('.', '..'), name.replace('.', ' .'), name.replace('.', '\u3002')],
        ...['*', '*.', '*.*', '**', `**.${name}`, `*.${name}.*`, '', '.', '..', `${name},${name}`],
        ...[`${kin.v4}/8`, `[${kin.v6}`, `${kin.v6}]`, `[${kin.v6}]x`, `[${name}]`, `${name}\0`],
        ...[`${name}\0.evil.test`, `*.${name.split('.').slice(-2).join('.')}`, `+.${name}`, `~${name}`],
    ]);
}

export function entry(random, kin) {
    const host = entryHost(random, kin);

    if (random.chance(62)) return host;
    if (random.chance(80)) return `${host}:${random.pick(PORTS)}`;
    return `${host}:${random.pick(random.chance(50) ? BAD_PORTS : RANGES)}`;
}

/* A host that the entry names, or names nearly. */
function hostOf(random, text, kin) {
    let host = text.replace(/:[0-9-]*$/, '');

    if (host.startsWith('[')) host = host.slice(1).replace(/\].*$/, '');
    if (host === '' || host === '*') return random.pick(kin.names);
    host = host.replace(/^\*\.\*\./, `${label(random)}.${label(random)}.`);
    host = host.replace(/^\*\./, random.chance(20) ? '' : `${random.chance(30) ? 'a.' : ''}${label(random)}.`);
    return host.replace(/\*/g, () => (random.chance(80) ? label(random) : `${label(random)}.x`));
}

/* A resolver's client asks for A-labels; a sloppy one for what the person typed. */
function toAsciiLabels(host) {
    return host
        .split('.')
        .map(part => FOREIGN[part] ?? part)
        .join('.');
}

function disturb(random, host, kin) {
    const glue = random.pick(GLUE);
    const other = random.pick(kin.names);

    return random.pick([
        ...[flipCase(random, host), `${host}.`, `${host}..`, `.${host}`, `a.${host}`, `a.b.c.${host}`],
        ...[`evil${host}`, `evil-${host}`, `${host}evil`, `${host}.evil.test`, host.slice(host.indexOf('.') + 1)],
        ...[`evil.test${glue}.${host}`, `evil.test${glue}${host}`, `${host}${glue}.evil.test`, `${host}${glue}`],
        ...[host.replace('.', '..'), host.replace('.', '-'), host.replace('.', '%2e'), host.replace('.', '\u3002')],
        ...[`${long(random, random.pick([63, 64]))}.${host}`, `${'a.'.repeat(random.pick([20, 118, 124, 126]))}${host}`],
        ...[`_x.${host}`, `-.${host}`, `xn--a.${host}`, `xn--a.${host}.`, `1.${host}`, `${host}.1`, `${host}.0x7f`],
        ...[`*.${host}`, other, `${other}.${host}`, `${kin.v6}%x.${host}`, `bücher.${host}`, `${host}0`],
        ...[spellV4(random, kin.v4), kin.v4, kin.v6, spellV6(random, kin.v6), `${kin.v4}.${host}`, `[${host}]`],
        ...[`::ffff:${kin.v4}`, `::FFFF:${kin.v4}`, `::${kin.v4}`, `64:ff9b::${kin.v4}`, `0:0:0:0:0:ffff:${kin.v4}`],
    ]);
}

function requestPort(random, text) {
    const own = /:([0-9]+)$/.exec(text);
    const range = /:([0-9]+)-([0-9]+)$/.exec(text);

    if (range && random.chance(60)) return random.pick([range[1], range[2], `${range[1] - 1}`, `${Number(range[2]) + 1}`]);
    if (own && random.chance(60)) return random.chance(80) ? own[1] : `${Number(own[1]) + random.pick([1, -1, 65536])}`;
    return random.chance(93) ? random.pick(PORTS) : random.pick(BAD_PORTS);
}

/* As the target of a CONNECT ("C": one text) or as a name and a number ("R": SOCKS). */
export function request(random, kin, text) {
    let host = hostOf(random, text, kin);
    const port = requestPort(random, text);

    if (random.chance(80)) host = toAsciiLabels(host);
    for (let i = random.pick([0, 0, 1, 1, 1, 2]); i > 0; i--) host = disturb(random, host, kin);
    if (random.chance(50)) return { form: 'R', host, port: Number.parseInt(port, 10) & 0xffff || 443 };
    if (random.chance(2)) return { form: 'C', host };
    if (/:/.test(host) ? random.chance(90) : random.chance(2)) host = `[${host}]`;
    return { form: 'C', host: `${host}:${port}` };
}
