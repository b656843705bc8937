// Node asks a proxy for a URL of plain HTTP when it is told to; by itself it knows of none.
const http = require('http');
const proxy = new URL(process.env.HTTP_PROXY);
const headers = { Host: new URL(process.argv[2]).host };
if (proxy.username) {
  const pair = Buffer.from(`${proxy.username}:${proxy.password}`).toString('base64');
  headers['Proxy-Authorization'] = `Basic ${pair}`;
}
http.get({ host: proxy.hostname, port: proxy.port, path: process.argv[2], headers }, (answer) => {
  process.exitCode = answer.statusCode === 200 ? 0 : 1;
  if (process.exitCode)
    console.error(`${answer.statusCode} ${answer.statusMessage}`);
  answer.pipe(process.stdout);
});
