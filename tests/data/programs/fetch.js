// fetch() by CONNECT through HTTP_PROXY. Node has fetch, but no proxy agent: its Agent is
// found behind the symbol by which all versions share it, and told how to connect.
const http = require('http'), tls = require('tls');
const proxy = new URL(process.env.HTTP_PROXY);

function connect(options, done) {
  const name = `${options.hostname}:${options.port || (options.protocol === 'https:' ? 443 : 80)}`;
  const headers = { Host: name };
  if (proxy.username) {
    const pair = Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64');
    headers['Proxy-Authorization'] = `Basic ${pair}`;
  }
  const ask = http.request({
    host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: name, headers,
  });
  ask.on('connect', (answer, socket) => {
    if (answer.statusCode !== 200) {
      done(new Error(`${answer.statusCode} ${answer.statusMessage}`));
    } else if (options.protocol === 'https:') {
      const inside = tls.connect({ socket, servername: options.hostname });
      inside.once('secureConnect', () => done(null, inside)).once('error', done);
    } else {
      done(null, socket);
    }
  });
  ask.on('error', done);
  ask.end();
}

async function main() {
  await fetch('data:,');
  const Agent = globalThis[Symbol.for('undici.globalDispatcher.1')].constructor;
  const answer = await fetch(process.argv[2], { dispatcher: new Agent({ connect }) });
  process.stdout.write(await answer.text());
}

main().then(() => process.exit(0), (error) => {
  console.error(String(error.cause || error));
  process.exit(1);
});
