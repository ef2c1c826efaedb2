import { createServer } from 'node:http';

/** The baseline: node:http sends given bytes and does nothing else. */
const TEXT_BYTES_MAX = 16_384;
const answers = new Map<string, { headers: string[]; body: Buffer | string }>();
const server = createServer((request, response) => {
  const answer = answers.get(request.url ?? '')!;
  response.writeHead(200, answer.headers);
  response.end(answer.body, 'latin1');
});
process.on('message', (message: { url: string; headers: string[]; body: string } | 'cpu') => {
  if (message === 'cpu') return process.send!(process.cpuUsage());
  // A short body is written together with its head, as the service does.
  const bytes = Buffer.from(message.body, 'base64');
  answers.set(message.url, {
    headers: message.headers,
    body: bytes.length > TEXT_BYTES_MAX ? bytes : bytes.toString('latin1'),
  });
  return process.send!('set');
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as { port: number }).port }));
process.on('disconnect', () => process.exit());
