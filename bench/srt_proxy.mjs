// The proxy of Anthropic's sandbox runtime by itself: one port for HTTP and SOCKS, as it
// stands outside of its sandbox, with its own matcher and a list of 100 rules.
// usage: node srt_proxy.mjs FOLDER_OF_ITS_MODULES ADDRESS PORT ALLOWED_HOST
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, address, port, host] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(join(folder, name)).href);
const { createHttpProxyServer } = await load('http-proxy.js');
const { createSocksProxyServer } = await load('socks-proxy.js');
const { createMuxProxyServer } = await load('mux-proxy.js');
const { matchesDomainPatternWithPort: matches } = await load('domain-pattern.js');

const fill = Array.from({ length: 98 }, (_, i) => `${i % 2 ? '*.' : ''}name${i}.rule${i}.example`);
const allowed = [...fill, '*.bench.test', host];
const filter = (to, name) => allowed.some((pattern) => matches(name, to, pattern));
const httpServer = createHttpProxyServer({ filter });
const socks = createSocksProxyServer({ filter });
const handleSocksConnection = (socket) => socks.handleConnection(socket);
const mux = createMuxProxyServer({ httpServer, handleSocksConnection });
await mux.listenHttpBackend();
mux.server.listen(Number(port), address);
