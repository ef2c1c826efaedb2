import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { test } from 'node:test';
import pg from 'pg';
import { addGame } from '../src/catalogue/games/games.ts';
import { closeApp, composeApp, composeService, outsideOf } from '../src/composition/compose.ts';
import { addUser } from '../src/people/users/users.ts';
import { issueToken } from '../src/platform/access/credentials.ts';
import { readSettings } from '../src/platform/config/settings.ts';
import { ask } from './fleet/doors.ts';
import { mountSmallDisk, reasonWithoutDisk } from './small-disk.ts';
import { temporaryDatabases, temporaryFolder } from './temporary.ts';

const DISK_MEGABYTES = 30;
const ON_POSTGRES = process.env['MODSTEAD_TEST_DATABASE'] === 'postgres';

/** Writes a game, ends the service, lets something happen, and expects that the next start can read alone. */
async function startsReadOnly(folder: string, happens: (databaseUrl: string | undefined) => void | Promise<void>) {
  const databases = await temporaryDatabases(folder);
  const settings = readSettings({
    MODSTEAD_DATA: folder,
    MODSTEAD_PORT: '0',
    MODSTEAD_PUBLIC_PORT: '443',
    MODSTEAD_TRUST_PROXY: '127.0.0.1',
    MODSTEAD_DRAIN_SECONDS: '1',
    MODSTEAD_LOG: 'off',
    ...databases.settings,
  });
  const agent = new Agent();
  try {
    const app = await composeApp(settings, 'production', outsideOf(settings));
    const { gameId, token } = await app.db.write(async (transaction) => {
      const { id: ownerId } = await addUser(app, transaction, { username: 'Ada' });
      const game = await addGame(app, transaction, { name: 'Read', ownerId, accepted: true, summary: 'before' });
      return { gameId: game.id, token: (await issueToken(app, transaction, { userId: ownerId })).access_token };
    });
    await closeApp(app);
    // The first start writes what every database has, such as the agreements.
    await (await composeService(settings, outsideOf(settings))).stop();
    await happens(settings.databaseUrl);
    const service = await composeService(settings, outsideOf(settings));
    try {
      const asked = async (method: string, path: string, body?: string) =>
        (await ask({ host: '127.0.0.1', port: service.port }, agent, { method, path, token, ...(body && { body }) }))!;
      for (const path of [`/v1/games/${gameId}`, '/v1/games', '/v1/me', `/v1/games/${gameId}/mods?_q=none`])
        assert.equal((await asked('GET', path)).status, 200, path);
      const refused = await asked('PUT', `/v1/games/${gameId}`, 'summary=after');
      assert.equal(`${refused.status} ${JSON.parse(refused.body).error.error_ref}`, '503 10000');
      assert.equal(JSON.parse((await asked('GET', `/v1/games/${gameId}`)).body).summary, 'before');
      const readiness = await asked('GET', '/readyz');
      assert.equal(readiness.status, 200);
      assert.match(readiness.body, /^ready\nwarning: the production database cannot be written\n/);
      assert.match(
        (await asked('GET', '/metrics')).body,
        /^modstead_database_read_only\{environment="production"\} 1$/m,
      );
    } finally {
      await service.stop();
    }
  } finally {
    agent.destroy();
    await databases.drop();
  }
}

if (ON_POSTGRES)
  test('a service starts on a server that is read-only, serves reads and says so', () =>
    startsReadOnly(temporaryFolder('read-only'), async (databaseUrl) => {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      const { database } = client;
      for (const name of [database, `${database}_sandbox`])
        await client.query(`alter database "${name}" set default_transaction_read_only = on`);
      await client.end();
    }));
else
  for (const [state, make] of [
    ['full', 'fill'],
    ['read-only', 'makeReadOnly'],
  ] as const) {
    const without = reasonWithoutDisk();
    test(`a service starts on a ${state} disk, serves reads and says so`, { skip: without ?? false }, async () => {
      const disk = mountSmallDisk(DISK_MEGABYTES);
      try {
        await startsReadOnly(disk.folder, () => disk[make]());
      } finally {
        disk.unmount();
      }
    });
  }
