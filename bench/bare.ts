import { createHash } from 'node:crypto';
import { createWriteStream, readFileSync } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** The baseline for uploads: node:https hashes the request stream and writes it to a file, nothing else. */
const folder = process.env['BENCH_FOLDER']!;
const tls = { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(join(folder, 'cert.pem')) };
let uploads = 0;
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const hashes = [createHash('md5'), createHash('sha256')];
  const hashing = new Transform({
    transform(chunk, _encoding, done) {
      for (const hash of hashes) hash.update(chunk);
      done(null, chunk);
    },
  });
  uploads += 1;
  const path = join(folder, `bare-upload-${uploads}`);
  await pipeline(request, hashing, createWriteStream(path));
  for (const hash of hashes) hash.digest('hex');
  const handle = await open(path);
  await handle.sync();
  await handle.close();
  await unlink(path);
  response.writeHead(204, { connection: 'close' }).end();
}
// A client that is stopped in the middle is none of the measurement's concern.
const server = createServer(
  tls,
  (request, response) => void receive(request, response).catch(() => response.destroy()),
);
process.on('message', () => process.send!(process.cpuUsage()));
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as { port: number }).port }));
process.on('disconnect', () => process.exit());
