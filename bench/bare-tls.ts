import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { makeCertificate } from '../src/platform/http/certificate-making.ts';

/** The baseline for handshakes: node:https with a new certificate, which it shares with the other servers. */
const folder = process.env['BENCH_FOLDER']!;
const { key, cert, caCert } = await makeCertificate('localhost', Date.now());
writeFileSync(join(folder, 'key.pem'), key);
writeFileSync(join(folder, 'cert.pem'), cert);
writeFileSync(join(folder, 'ca.pem'), caCert);

const body = JSON.stringify({ code: 200, success: true, message: 'A small response, as a ping has it.' });
const server = createServer({ key, cert }, (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port, body }));
process.on('disconnect', () => process.exit());
