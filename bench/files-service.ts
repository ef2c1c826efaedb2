import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { addGame } from '../src/catalogue/games/games.ts';
import { addMod } from '../src/catalogue/mods/mods.ts';
import { composeService, outsideOf } from '../src/composition/compose.ts';
import { addUser } from '../src/people/users/users.ts';
import { createAuthenticator } from '../src/platform/access/authenticate.ts';
import { anyone } from '../src/platform/access/caller.ts';
import { createGate } from '../src/platform/access/gate.ts';
import { readSettings } from '../src/platform/config/settings.ts';
import { localCertificate } from '../src/platform/http/certificate.ts';
import { noContent, operation } from '../src/platform/http/operation.ts';
import { openPort } from '../src/platform/http/port.ts';
import { createServer } from '../src/platform/http/server.ts';
import { createTransfers } from '../src/platform/http/transfer/transfer.ts';

/** The service with one file for the transfer benchmarks, in its own process. */
const DELAY_RESOLUTION_MS = 1;
const settings = readSettings(
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('BENCH_'))),
);
const folder = process.env['BENCH_FOLDER']!;
const bytes = Number(process.env['BENCH_BYTES']);
const service = await composeService(settings, outsideOf(settings));
const app = service.apps.production;

async function* content() {
  const chunk = Buffer.alloc(1024 * 1024, 'as good as any other content of a mod, ');
  for (let sent = 0; sent < bytes; sent += chunk.length) yield chunk.subarray(0, Math.min(chunk.length, bytes - sent));
}

const key = 'modfiles/be/bench';
const stored = await app.storage.put(key, content());
const target = await app.db.write(async (transaction) => {
  const owner = await addUser(app, transaction, { username: 'Owner' });
  const game = await addGame(app, transaction, { name: 'Bench Game', ownerId: owner.id, accepted: true });
  const mod = await addMod(app, transaction, {
    name: 'Bench Mod',
    summary: 'A mod',
    accepted: true,
    ownerId: owner.id,
    gameId: game.id,
  });
  const now = app.clock.now();
  const { id } = await transaction.query
    .insertInto('modfiles')
    .values({
      mod_id: mod.id,
      game_id: game.id,
      submitted_by: owner.id,
      kind: 'file',
      date_added: now,
      date_updated: now,
      date_scanned: 0,
      virus_status: 0,
      virus_positive: 0,
      filesize: bytes,
      filesize_uncompressed: bytes,
      status: 1,
      withdrawn: 0,
      released: 1,
      virustotal_hash: null,
      md5: stored.md5,
      sha256: stored.sha256,
      storage_key: key,
      filename: 'bench.zip',
      filename_folded: 'bench.zip',
      version: '',
      version_folded: '',
      changelog: '',
      changelog_folded: '',
      metadata_blob: '',
      metadata_blob_folded: '',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return {
    file: `/v1/games/${game.id}/mods/${mod.id}/files/${id}/download?api_key=${game.api_key}`,
    page: `/v1/games/${game.id}?api_key=${game.api_key}`,
  };
});

/** Receives an upload as every operation with a file does, without the processing that follows. */
const receive = operation({
  id: 'receive',
  tag: 'Bench',
  method: 'POST',
  path: '/receive',
  says: 'Receives a file.',
  access: anyone(),
  files: { filedata: { bytesMax: 32 * 1024 ** 3, required: true, says: 'The file.' } },
  returns: noContent,
  errors: [],
  handle: () => undefined,
});
const tenant = (environment: 'production' | 'sandbox') => {
  const own = service.apps[environment];
  return { app: own, authenticator: createAuthenticator(own), gate: createGate(own), limiter: undefined };
};
const tls = await localCertificate(join(settings.data, 'tls'), settings.domain);
writeFileSync(join(folder, 'key.pem'), tls.key);
writeFileSync(join(folder, 'cert.pem'), tls.cert);
const uploads = await openPort({
  listener: createServer({
    settings,
    tenants: { production: tenant('production'), sandbox: tenant('sandbox') },
    operations: [receive],
    systemRoutes: () => false,
    transfers: createTransfers(app.random),
    draining: new AbortController().signal,
    count: () => {},
  }),
  tls,
  port: 0,
  bind: '127.0.0.1',
  connectionsMax: () => 100,
});

const delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS });
// Measuring the delay costs CPU time itself, so it runs only on request.
process.on('message', ({ delays: wish }: { delays?: 'start' | 'stop' }) => {
  if (wish === 'start') delays.reset();
  if (wish === 'start') delays.enable();
  if (wish === 'stop') delays.disable();
  process.send!({ ...process.cpuUsage(), loopDelayMs: delays.percentile(99) / 1e6 - DELAY_RESOLUTION_MS });
});
process.send!({ port: service.port, uploadPort: uploads.port, path: app.storage.path!(key), ...target });
process.on('disconnect', () => process.exit());
