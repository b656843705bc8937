/* Writes the vectors: what might be asked, and what srt answers (README.md).
 *
 *     node generate.mjs NODE_MODULES FOLDER
 *
 * makes FOLDER/names.txt and FOLDER/addresses.txt. The same seed makes the same files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { addressGroup, rangeGroup } from './addresses.mjs';
import { fixedAddresses, fixedNames } from './fixed.mjs';
import { entry, family, request } from './names.mjs';
import { Random } from './random.mjs';
import { loadSrt } from './srt.mjs';

const SEED = 20261130;
const NAME_GROUPS = 2400;
const ALLOWS = 6;
const DENIES = 3;
const REQUESTS = 24;
const ADDRESS_GROUPS = 1100;
const RANGE_GROUPS = 700;

/* One word without blanks: bytes that are no plain ASCII, and '%', as %XX. */
function escape(text) {
    const bytes = Buffer.from(text, 'utf8');
    let out = '';

    for (const byte of bytes)
        out +=
            byte > 0x20 && byte < 0x7f && byte !== 0x25
                ? String.fromCharCode(byte)
                : `%${byte.toString(16).padStart(2, '0')}`;
    return out === '' ? '%' : out;
}

function parsed(srt, ask) {
    return ask.form === 'C' ? srt.parseConnectTarget(ask.host) : { hostname: ask.host, port: ask.port };
}

/* The canonical host: "=" when it is the asked one in lower case, "?" when srt's parser
 * takes it for no host and srt goes on with what was asked. */
function canonicalWord(asked, canonical) {
    if (canonical === undefined) return '?';
    return canonical === asked.toLowerCase() ? '=' : escape(canonical);
}

function orderOf(bits, accepted) {
    const hit = kind => accepted.some((one, i) => one.kind === kind && (bits >> i) & 1);

    if (hit('d')) return 'D';
    return hit('a') ? 'A' : 'N';
}

/* The entry as srt's host parser would have it, had srt asked it: for entries that are
 * not plain ASCII, which srt loads and never matches. Undefined: they are no host. */
function meantText(srt, text) {
    const [, star, host, port] = /^(\*\.)?([^:]*)(:.*)?$/.exec(text) ?? [];

    if (host === undefined || /^[\x00-\x7f]*$/.test(host)) return undefined;
    const canonical = srt.canonicalizeHost(host);

    return canonical === undefined ? undefined : `${star ?? ''}${canonical}${port ?? ''}`;
}

/* srt.md 5 for one request: which entries match, and the decision of the whole. */
async function judged(srt, ask, entries, network) {
    const raw = escape(ask.host);
    const target = parsed(srt, ask);
    let bits = 0;
    let meant = 0;

    if (target === undefined) return `C ${raw} 0 ? 0 X`;
    const { hostname, port } = target;
    const letter = await srt.decide(network, hostname, port);
    const canonical = srt.canonicalizeHost(hostname);
    const line = `${ask.form} ${raw} ${port} ${canonicalWord(hostname, canonical)}`;

    if (letter === 'M') return `${ask.form} ${raw} ${port} ? 0 M`;
    entries.forEach((one, i) => {
        if (!one.ok) return;
        if (srt.matches(canonical ?? hostname, port, one.text)) bits |= 1 << i;
        if (one.meant !== undefined && srt.matches(canonical ?? hostname, port, one.meant)) meant |= 1 << i;
    });
    if (orderOf(bits, entries) !== letter)
        throw new Error(`${line}: srt decides ${letter} and its matches say otherwise`);
    return `${line} ${bits.toString(16)}${meant ? `+${meant.toString(16)}` : ''} ${letter}`;
}

async function nameGroup(srt, group) {
    const entries = [
        ...group.allow.map(text => ({ kind: 'a', text, ok: srt.accepts({ allowedDomains: [text] }) })),
        ...group.deny.map(text => ({ kind: 'd', text, ok: srt.accepts({ deniedDomains: [text] }) })),
    ];
    for (const one of entries) one.meant = meantText(srt, one.text);
    const good = kind => entries.filter(one => one.ok && one.kind === kind).map(one => one.text);
    const network = { allowedDomains: good('a'), deniedDomains: good('d') };
    const lines = ['G', ...entries.map(one => `${one.kind}${Number(one.ok)} ${escape(one.text)}`)];

    for (const ask of group.requests) lines.push(await judged(srt, ask, entries, network));
    return lines;
}

function chanceNames(random) {
    const kin = family(random);
    const list = count => Array.from({ length: count }, () => entry(random, kin));
    const allow = list(ALLOWS);
    const deny = list(DENIES);
    const texts = [...allow, ...deny];
    const requests = Array.from({ length: REQUESTS }, () => request(random, kin, random.pick(texts)));

    return { allow, deny, requests };
}

function rangesAccepted(srt, ranges) {
    return ranges.map(text => ({ text, ok: srt.accepts({ deniedResolvedAddresses: [text] }) }));
}

/* srt.md 6: for each address one letter for each name. */
function addressLines(srt, group) {
    const ranges = rangesAccepted(srt, group.ranges);
    const judge = srt.addressJudge({
        allowedDomains: group.allow,
        deniedDomains: group.deny,
        deniedResolvedAddresses: ranges.filter(one => one.ok).map(one => one.text),
        localAddresses: () => group.interfaces,
    });
    const asked = group.names.map(name => name.split(':'));
    const letters = address => asked.map(([name, port]) => judge(name, Number(port), address)).join('');

    return [
        'H',
        ...group.allow.map(text => `a1 ${escape(text)}`),
        ...group.deny.map(text => `d1 ${escape(text)}`),
        ...ranges.map(one => `r${Number(one.ok)} ${escape(one.text)}`),
        ...group.interfaces.map(text => `i ${text}`),
        ...group.prefixes.map(text => `p ${text}`),
        ...group.names.map(text => `n ${text}`),
        ...group.addresses.map(text => `x ${text} ${letters(text)}`),
    ];
}

function write(folder, file, srt, lines) {
    const head = `# ${file}: made by generate.mjs; srt ${srt.version}; seed ${SEED}`;

    writeFileSync(join(folder, file), [head, ...lines, ''].join('\n'));
}

async function main(modules, folder) {
    const srt = await loadSrt(resolve(modules));
    const random = new Random(SEED);
    const names = [];
    const addresses = [];

    for (const group of fixedNames()) names.push(...(await nameGroup(srt, group)));
    for (let i = 0; i < NAME_GROUPS; i++) names.push(...(await nameGroup(srt, chanceNames(random))));
    for (const group of fixedAddresses()) addresses.push(...addressLines(srt, group));
    for (let i = 0; i < ADDRESS_GROUPS; i++) addresses.push(...addressLines(srt, addressGroup(random)));
    for (let i = 0; i < RANGE_GROUPS; i++) addresses.push(...addressLines(srt, rangeGroup(random)));
    mkdirSync(folder, { recursive: true });
    write(folder, 'names.txt', srt, names);
    write(folder, 'addresses.txt', srt, addresses);
}

if (process.argv.length !== 4) {
    console.error('usage: node generate.mjs NODE_MODULES FOLDER');
    process.exit(2);
}
await main(process.argv[2], process.argv[3]);
