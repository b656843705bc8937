// node with a proxy agent: CONNECT by the environment's proxy, then TLS inside.
const http = require('http'), https = require('https'), tls = require('tls');
const target = new URL(process.argv[2]);
const proxy = new URL(process.env.HTTPS_PROXY);
const port = target.port || 443;
const ask = http.request({
  host: proxy.hostname, port: proxy.port, method: 'CONNECT',
  path: `${target.hostname}:${port}`,
});
ask.on('connect', (answer, socket) => {
  if (answer.statusCode !== 200) {
    console.error(`${answer.statusCode} ${answer.statusMessage}`);
    process.exit(1);
  }
  const inside = tls.connect({ socket, servername: target.hostname }, () => {
    https.get(target, { createConnection: () => inside }, (res) => {
      res.on('data', (piece) => process.stdout.write(piece));
    });
  });
  inside.on('error', (error) => { console.error(error.message); process.exit(1); });
});
ask.on('error', (error) => { console.error(error.message); process.exit(1); });
ask.end();
