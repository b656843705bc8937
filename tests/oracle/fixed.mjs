/* What srt.md spells out word by word (4.1, 4.2 and 28), as groups of their own: they
 * stand in front of everything that chance makes. */

const connect = (hosts, port) => hosts.map(host => ({ form: 'C', host: `${host}:${port}` }));
const named = (hosts, port) => hosts.map(host => ({ form: 'R', host, port }));

/* One host, eight spellings. */
const LOOPBACK = [
    ...['127.0.0.1', '127.1', '0x7f.1', '0x7f000001', '2130706433', '017700000001'],
    ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
];

/* Section 4.1, left and right column. */
const REFUSED = [
    ...['*', '*.com', '*.local', '*.internal', '*.', 'com', 'host', 'LOCALHOST', 'example.com.'],
    ...['.x.y', 'a*.x.y', '*x.com', 'http://a.b', 'a.b/c', 'a.b:0', 'a.b:070', 'a.b:65536'],
    ...['10.0.0.0/8', '::1', '2001:db8::1:443', '[::1', '[::1]x'],
];
const ACCEPTED = [
    ...['*.co.uk', '*.github.io', '*.*.example.com', 'example..com', 'exa mple.com'],
    ...['user@example.com', 'example.com?x', '256.1.1.1', '127.1', '0x7f.0.0.1', '*.0.0.1'],
    ...['exämple.com', '_dmarc.x.y', '-a.b', '[1.2.3.4]', '[::1]:443', '[fe80::1%eth0]'],
    ...['example.com:443', '*.example.com:8443', 'localhost', '*:22'],
];

const ENTRIES_A_GROUP = 12;

/* Every entry of both columns in an allow list and in a deny list. */
function columns() {
    const entries = [...REFUSED, ...ACCEPTED];
    const found = [];

    for (let i = 0; i < entries.length; i += ENTRIES_A_GROUP) {
        const part = entries.slice(i, i + ENTRIES_A_GROUP);
        const hosts = part.map(text => text.replace(/^\*\./, 'sub.').replace(/:[0-9]+$/, ''));
        const requests = [...connect(hosts, 443), ...named(hosts, 22)];

        found.push({ allow: part, deny: [], requests });
        found.push({ allow: [], deny: part, requests });
    }
    return found;
}

export function fixedNames() {
    return [
        ...columns(),
        { allow: ['127.0.0.1'], deny: [], requests: connect(LOOPBACK, 80) },
        { allow: [], deny: ['127.0.0.1'], requests: connect(LOOPBACK, 80) },
        { allow: [], deny: ['127.1', '0x7f.0.0.1'], requests: connect(LOOPBACK, 80) },
        {
            allow: ['127.0.0.1', '[::1]', '[::ffff:10.0.0.1]', 'a.test'],
            deny: ['*:25'],
            requests: [
                ...connect([...LOOPBACK, '[::1]', '10.0.0.1', 'a.test', 'b.test'], 25),
                ...connect([...LOOPBACK, '[::1]', '10.0.0.1', 'a.test', 'b.test'], 24),
            ],
        },
        {
            allow: ['*.com.example'],
            deny: ['exämple.com.example'],
            requests: named(['xn--exmple-cua.com.example', 'exämple.com.example'], 80),
        },
        {
            allow: ['*.example.com', 'a.b:443', '[::1]:80', 'LocalHost', 'localhost:80'],
            deny: ['*:25', 'no.example.com'],
            requests: [
                ...named(['example.com', 'example.com.', 'a.example.com.', 'no.example.com'], 443),
                ...named(['::ffff:1.2.3.4%x.example.com', 'localhost', 'localhost.'], 443),
                ...named(['a.example.com', 'a.b', 'localhost'], 25),
                ...connect(['a.b', '[::1]', '[0:0:0:0:0:0:0:1]', '[::2]', 'LOCALHOST'], 80),
                ...connect(['a.b', 'A.B', 'a.b.', 'a.b..', 'x.a.b'], 443),
                ...connect(['example.com'], 0),
                ...connect(['example.com'], 65536),
                { form: 'C', host: 'example.com' },
                { form: 'C', host: '[::1]' },
                { form: 'C', host: '' },
            ],
        },
    ];
}

/* Section 28, resolved addresses. */
const RESOLVED = [
    ...['127.0.0.1', '::1', '0.0.0.0', '::', '169.254.169.254', 'fe80::1', '224.0.0.1', 'ff02::1'],
    ...['255.255.255.255', '100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254'],
    ...['fd20:ce::254', 'fd00:c1::a9fe:a9fe', 'fd00:42::42', 'fd00:a9fe:a9fe::1'],
    ...['fd00:100::100:200', '::ffff:127.0.0.1', '::127.0.0.1', '::ffff:0:127.0.0.1'],
    ...['64:ff9b::7f00:1', '2002:7f00:1::1', '10.0.0.1', '192.168.1.1', 'fc00::1'],
    ...['93.184.216.34', '203.0.113.7', '0.0.0.1'],
];

const NAMES = ['app.test:18080', 'app.test:18081', 'localhost:18080', 'db.localhost:18080'];

export function fixedAddresses() {
    const hosts = ['app.test', 'localhost', 'db.localhost'];
    const common = { names: NAMES, addresses: RESOLVED, interfaces: ['203.0.113.7'], prefixes: [] };

    return [
        { ...common, allow: hosts, deny: [], ranges: [] },
        { ...common, allow: hosts, deny: [], ranges: ['10.0.0.0/8', 'fc00::/7'] },
        { ...common, allow: [...hosts, '127.0.0.1:18080'], deny: [], ranges: [] },
        { ...common, allow: [...hosts, '0.0.0.1'], deny: [], ranges: [] },
        { ...common, allow: [...hosts, '127.0.0.1'], deny: ['127.0.0.1:18080'], ranges: [] },
        { ...common, allow: [...hosts, '[::1]', '[::]'], deny: ['0.0.0.1', '0.0.0.0'], ranges: [] },
        { ...common, allow: hosts, deny: [], ranges: ['::/0'] },
        { ...common, allow: hosts, deny: [], ranges: ['::fffe:0:0/95'] },
        { ...common, allow: hosts, deny: [], ranges: ['::ffff:0:0/96'] },
        { ...common, allow: hosts, deny: [], ranges: ['0.0.0.0/0'] },
    ];
}
