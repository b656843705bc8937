/* Names with the addresses that they resolve to: both borders of every range that a
 * rule knows, plain and inside every form of IPv6 that carries an IPv4 address. */

/* First and last of each class of srt.md 6, private and shared space, and plain ones. */
const V4_RANGES = [
    ...[['127.0.0.0', 8], ['0.0.0.0', 8], ['169.254.0.0', 16], ['224.0.0.0', 4]],
    ...[['255.255.255.255', 32], ['100.100.100.200', 32], ['168.63.129.16', 32]],
    ...[['192.0.0.192', 32], ['10.0.0.0', 8], ['172.16.0.0', 12], ['192.168.0.0', 16]],
    ...[['100.64.0.0', 10], ['198.18.0.0', 15], ['240.0.0.0', 4], ['192.0.2.0', 24]],
];
const V6_RANGES = [
    ...[['::1', 128], ['::', 128], ['fe80::', 10], ['ff00::', 8], ['fc00::', 7]],
    ...[['fd00:ec2::', 32], ['fd20:ce::254', 128], ['fd00:c1::a9fe:a9fe', 128]],
    ...[['fd00:42::42', 128], ['fd00:a9fe:a9fe::1', 128], ['fd00:100::100:200', 128]],
    ...[['64:ff9b::', 96], ['64:ff9b:1::', 48], ['2002::', 16], ['2001::', 32]],
    ...[['2001:db8::', 32], ['::', 96], ['::ffff:0:0', 96], ['::ffff:0:0:0', 96]],
];
/* RFC 6052 2.2: the lengths that a translator's prefix may have. */
const NAT64_LENGTHS = [32, 40, 48, 56, 64, 96];
const NAT64_LOCAL = 0x0064ff9b0001n << 80n;
const PORTS = [80, 443, 8443];

const MASK128 = (1n << 128n) - 1n;

function v4Number(text) {
    return text.split('.').reduce((all, part) => all * 256 + Number(part), 0);
}

function v4Text(number) {
    return [24, 16, 8, 0].map(shift => (number >>> shift) & 255).join('.');
}

export function v6Number(text) {
    const host = new URL(`http://[${text}]/`).hostname.slice(1, -1);
    const [head, tail] = host.split('::');
    const lead = head ? head.split(':') : [];
    const rest = tail ? tail.split(':') : [];
    const fill = tail === undefined ? 0 : 8 - lead.length - rest.length;

    return [...lead, ...Array(fill).fill('0'), ...rest].reduce(
        (all, group) => (all << 16n) | BigInt(Number.parseInt(group, 16)),
        0n,
    );
}

export function v6Text(number) {
    const groups = [];

    for (let shift = 112n; shift >= 0n; shift -= 16n)
        groups.push(((number >> shift) & 0xffffn).toString(16));
    return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}

/* RFC 6052 2.2: the address follows the prefix and leaps over bits 64 to 71. */
function translated(prefix, length, v4) {
    let out = prefix;
    let at = length;

    for (let shift = 24; shift >= 0; shift -= 8) {
        if (at === 64) at = 72;
        out |= BigInt((v4 >>> shift) & 255) << BigInt(120 - at);
        at += 8;
    }
    return out;
}

/* Each way in which an IPv6 address carries the IPv4 address `v4`. */
function carriers(random, v4, prefixes) {
    const n = BigInt(v4);
    const other = BigInt(random.next());
    const port = BigInt(random.below(65536));
    const length = random.pick([48, 56, 64, 96]);
    const own = prefixes.map(([prefix, bits]) => translated(prefix, bits, v4));

    return [
        ...own,
        ...own,
        n,
        (0xffffn << 32n) | n,
        (0xffffn << 48n) | n,
        (0x64ff9bn << 96n) | n,
        (0x64ff9bn << 96n) | (1n << 32n) | n /* next to the well-known prefix */,
        translated(NAT64_LOCAL, length, v4),
        (0x2002n << 112n) | (n << 80n) | BigInt(random.pick([0, 1, 0xffff])),
        (0x20010000n << 96n) | (other << 64n) | (port << 32n) | (n ^ 0xffffffffn),
        (0x20010000n << 96n) | (n << 64n) | (port << 32n) | (other ^ 0xffffffffn),
        (0x20010db800010002n << 64n) | (random.pick([0x5efen, 0x02005efen]) << 32n) | n,
        (0xfe80n << 112n) | (0x5efen << 32n) | n,
        (0x20010db800010002n << 64n) | (0x04005efen << 32n) | n /* not ISATAP: another bit */,
        (0x20010db8n << 96n) | n,
    ];
}

function nearV4(random, text, bits) {
    const first = v4Number(text);
    const size = 2 ** (32 - bits);

    return random.pick([first, first + size - 1, first - 1, first + size, first + random.below(size)]) >>> 0;
}

function nearV6(random, text, bits) {
    const first = v6Number(text);
    const size = 1n << BigInt(128 - bits);
    const inside = ((BigInt(random.next()) << 96n) | BigInt(random.next())) % size;

    return random.pick([first, first + size - 1n, first - 1n, first + size, first + inside]) & MASK128;
}

function someV4(random, known) {
    if (known.length > 0 && random.chance(35)) {
        const text = random.pick(known);
        const n = v4Number(text);

        return (n + random.pick([0, 0, 0, 1, -1])) >>> 0;
    }
    return random.chance(85) ? nearV4(random, ...random.pick(V4_RANGES)) : random.next();
}

function someV6(random, known) {
    if (known.length > 0 && random.chance(40))
        return (v6Number(random.pick(known)) + random.pick([0n, 0n, 1n, -1n])) & MASK128;
    if (random.chance(85)) return nearV6(random, ...random.pick(V6_RANGES));
    return (BigInt(random.next()) << 96n) | (BigInt(random.next()) << 32n) | BigInt(random.next());
}

function someText(random) {
    return random.chance(55) ? v4Text(someV4(random, [])) : v6Text(someV6(random, []));
}

const isV6 = text => text.includes(':');

/* A range that its address begins: bits behind the prefix are zero. */
function cidr(random) {
    if (random.chance(50)) {
        const bits = random.pick([0, 1, 7, 8, 9, 12, 15, 16, 20, 24, 31, 32]);
        const keep = bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;

        return `${v4Text((someV4(random, []) & keep) >>> 0)}/${bits}`;
    }
    const bits = random.pick([0, 7, 8, 10, 16, 32, 48, 64, 95, 96, 112, 127, 128]);
    const keep = MASK128 ^ ((1n << BigInt(128 - bits)) - 1n);

    return `${v6Text(someV6(random, []) & keep)}/${bits}`;
}

const literal = text => (isV6(text) ? `[${text}]` : text);

function literals(random, most) {
    return Array.from({ length: random.below(most + 1) }, () => {
        const text = literal(someText(random));

        return random.chance(40) ? `${text}:${random.pick(PORTS)}` : text;
    });
}

function prefix(random) {
    const local = random.chance(25);
    const bits = random.pick(local ? [48, 56, 64, 96] : NAT64_LENGTHS);
    const base = local ? NAT64_LOCAL : (0x20010db8n << 96n) | (BigInt(random.next()) << 64n);
    /* Bits 64 to 71 of a prefix are zero too. */
    const keep = (MASK128 ^ ((1n << BigInt(128 - bits)) - 1n)) & ~(0xffn << 56n);

    return [base & keep, bits];
}

const isAddress = text => /^([0-9]+\.){3}[0-9]+$/.test(text) || (isV6(text) && URL.canParse(`http://[${text}]/`));

/* Everything that a group's lists name, without brackets, ports and lengths. */
function mentioned(group) {
    const all = [...group.allow, ...group.deny, ...group.ranges, ...group.interfaces];

    return all
        .map(text => text.replace(/^\[(.*)\].*$/, '$1').replace(/^([0-9.]+):[0-9]+$/, '$1'))
        .map(text => text.replace(/\/.*$/, ''))
        .filter(isAddress);
}

function addresses(random, group, prefixes, count) {
    const known = mentioned(group);
    const known4 = known.filter(text => !isV6(text));
    const known6 = known.filter(isV6);

    return Array.from({ length: count }, () => {
        if (random.chance(35)) return v4Text(someV4(random, known4));
        if (random.chance(35)) return v6Text(someV6(random, known6));
        return v6Text(random.pick(carriers(random, someV4(random, known4), prefixes)));
    });
}

const HOSTS = ['app.test', 'x.wild.test', 'localhost', 'db.localhost', 'localhost.test', 'notlocalhost.test'];
const ALLOWED = ['app.test', '*.wild.test', 'localhost', 'db.localhost', 'localhost.test', 'notlocalhost.test'];

export function addressGroup(random) {
    const prefixes = random.chance(40) ? [prefix(random), prefix(random)].slice(random.below(2)) : [];
    const group = {
        allow: [...ALLOWED, ...literals(random, 4)],
        deny: literals(random, 3),
        ranges: Array.from({ length: random.below(4) }, () => cidr(random)),
        interfaces: Array.from({ length: random.below(4) }, () => someText(random)),
        prefixes: prefixes.map(([base, bits]) => `${v6Text(base)}/${bits}`),
        names: [`app.test:${random.pick(PORTS)}`],
    };

    for (let i = 0; i < 3; i++) group.names.push(`${random.pick(HOSTS)}:${random.pick(PORTS)}`);
    group.addresses = addresses(random, group, prefixes, 50);
    return group;
}

/* How deniedResolvedAddresses might be written, each alone in a policy. */
function spelledRange(random) {
    const text = someText(random);
    const max = isV6(text) ? 128 : 32;
    const bits = random.below(max + 1);
    const v4 = v4Text(someV4(random, []));

    return random.pick([
        ...[text, cidr(random), `${text}/${bits}`, `${text}/0${bits}`, `${text}/${max + 1}`, `${text}/`],
        ...[`${text}/${bits} `, ` ${text}`, `${text}/-1`, `${text}/+8`, `${text}/8/8`, `[${text}]`],
        ...[`[${text}]/64`, `${text}%eth0`, `${text}%eth0/64`, `::ffff:${v4}`, `::ffff:${v4}/128`],
        ...[`::ffff:${v4}/104`, `::ffff:${v4}/95`, `::ffff:0:0/96`, `${v4}:80`, `${text.toUpperCase()}`],
        ...['10.0.0', '10/8', '10.0.0.0/255.0.0.0', '0x0a.0.0.0/8', '010.0.0.0/8', 'app.test', '', '*'],
        ...[`${v4}/1e1`, `${v4}/٣`, `${v4}\0`, `${v4}-${v4}`, '0.0.0.0/0', '::/0', `::${v4}`, `::${v4}/120`],
    ]);
}

export function rangeGroup(random) {
    const group = {
        allow: ['app.test'],
        deny: [],
        ranges: [spelledRange(random)],
        interfaces: [],
        prefixes: [],
        names: ['app.test:443'],
    };
    group.addresses = addresses(random, group, [], 16);
    return group;
}
