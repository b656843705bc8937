/* srt's own decision functions, taken from its installed package as they are.
 *
 * Two of them are not exported. Both are reached by a copy of their module that stands
 * beside it and ends in an export line more; not a byte of their text is ours. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PACKAGE = '@anthropic-ai/sandbox-runtime';

const load = path => import(pathToFileURL(path).href);

async function loadWith(folder, file, exports) {
    const copy = join(folder, file.replace('.js', '.oracle.js'));

    writeFileSync(copy, readFileSync(join(folder, file), 'utf8') + exports);
    return load(copy);
}

/* The word of a refusal, as one letter of the vectors (README.md). */
const CLASS_LETTERS = {
    'a deny-listed address': 'd',
    'a loopback address': 'l',
    'an unspecified address': 'u',
    'a link-local address': 'k',
    'a multicast address': 'm',
    'the broadcast address': 'b',
    'a cloud metadata address': 'c',
    'a listed address': 's',
    "one of this host's addresses": 't',
    'a non-loopback address': 'n',
};

export async function loadSrt(modules) {
    const root = join(modules, PACKAGE);
    const folder = join(root, 'dist', 'sandbox');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const pattern = await load(join(folder, 'domain-pattern.js'));
    const proxy = await load(join(folder, 'parent-proxy.js'));
    const { NetworkConfigSchema } = await load(join(folder, 'sandbox-config.js'));
    const { createResolvedAddressGuard } = await load(
        join(folder, 'resolved-address-guard.js'),
    );
    const { parseConnectTarget } = await loadWith(
        folder,
        'http-proxy.js',
        '\nexport { parseConnectTarget };\n',
    );
    const manager = await loadWith(
        folder,
        'sandbox-manager.js',
        '\nexport { filterNetworkRequest };' +
            '\nexport const setPolicy = network => { config = { network }; };\n',
    );

    const accepts = network =>
        NetworkConfigSchema.safeParse({
            allowedDomains: [],
            deniedDomains: [],
            ...network,
        }).success;

    /* The whole decision of srt.md 5, by the function that its proxies ask. */
    async function decide(network, host, port) {
        let why = '';
        let allowed;

        manager.setPolicy(network);
        allowed = await manager.filterNetworkRequest(
            port,
            host,
            undefined,
            undefined,
            reason => {
                why = reason;
            },
        );
        if (allowed) return 'A';
        if (why === 'malformed host') return 'M';
        return why === 'host is on the deny list' ? 'D' : 'N';
    }

    /* One letter: may name:port use this address? */
    function addressJudge(options) {
        let answer;
        const guard = createResolvedAddressGuard({
            ...options,
            resolve: (_name, _options, callback) =>
                callback(null, [{ address: answer, family: answer.includes(':') ? 6 : 4 }]),
        });

        return (name, port, address) => {
            let letter = 'p';

            answer = address;
            guard.lookupFor(port)(name, {}, error => {
                if (error) {
                    const why = /^resolved to (.*)$/.exec(error.reason)?.[1];

                    letter = CLASS_LETTERS[why];
                }
            });
            if (letter === undefined) throw new Error(`no letter for ${name} ${address}`);
            return letter;
        };
    }

    return {
        version,
        accepts,
        decide,
        addressJudge,
        parseConnectTarget,
        isValidHost: proxy.isValidHost,
        canonicalizeHost: proxy.canonicalizeHost,
        matches: pattern.matchesDomainPatternWithPort,
    };
}
