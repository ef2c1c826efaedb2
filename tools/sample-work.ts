import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type Client, createClient } from '../client/src/index.ts';
import type { Started } from './site-check.ts';

/** What the sample content lacks: things that wait, and what a studio sets up by itself. */
export async function addWork({ site, command }: Started): Promise<void> {
  const tokenOf = (user: number) => /[\w-]{40,}/.exec(command('token', 'add', '--user', String(user), '--json'))![0];
  const [owner, player] = [1, 3].map((user) => createClient({ url: `${site}/v1`, token: tokenOf(user) }));
  const games = (await owner!.call('GET /games', {})).data;
  const idOf = (name: string) => games.find(({ name_id }) => name_id === name)!.id;
  const [skyfarers, gridline] = [idOf('skyfarers'), idOf('gridline-99')];
  await addWaiting(player!, gridline);
  const { data: mods } = await player!.call('GET /games/{game_id}/mods', { game_id: skyfarers, _limit: 8 });
  for (const { id } of mods)
    await player!.call('POST /games/{game_id}/mods/{mod_id}/subscribe', { game_id: skyfarers, mod_id: id });
  await setUp(owner!, skyfarers);
}

async function addWaiting(player: Client, game_id: number): Promise<void> {
  const { data: mods } = await player.call('GET /games/{game_id}/mods', { game_id, _limit: 4 });
  const tracks = [
    ['Harbour at night', 'Eleven corners between the cranes, with wet asphalt.'],
    ['Switchback pass', 'Twenty hairpins up and the same way down.'],
    ['Frozen lake', 'No walls, and no grip either.'],
    ['Old airfield', 'Two runways and a lot of tyres.'],
  ] as const;
  for (const [index, [name, summary]] of tracks.entries()) {
    const logo = await (await fetch(mods[index]!.logo.original!)).blob();
    const { id: mod_id } = await player.call('POST /games/{game_id}/mods', { game_id, name, summary, logo });
    const filedata = new Blob([EMPTY_ZIP], { type: 'application/zip' });
    await player.call('POST /games/{game_id}/mods/{mod_id}/files', { game_id, mod_id, filedata, version: '1.0' });
  }
}

/** A zip file with one empty file, `a`. */
const EMPTY_ZIP = Uint8Array.fromBase64(
  'UEsDBAoAAAAAAAAAIQAAAAAAAAAAAAAAAAABAAAAYVBLAQIUAAoAAAAAAAAAIQAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAABhUEsFBgAAAAABAAEALwAAAB8AAAAAAA==',
);

async function setUp(owner: Client, game_id: number): Promise<void> {
  const rules = [
    ['Words of casinos', 'deny', 'payload.name', 'casino'],
    ['Links in summaries', 'hold', 'payload.summary', 'http'],
  ] as const;
  for (const [name, verdict, field, value] of rules)
    await owner.call('POST /games/{game_id}/rules', {
      game_id,
      name,
      verdict,
      operations: ['add-mod'],
      when: JSON.stringify({ field, is: 'contains', value }),
      enabled: true,
    });
  for (const [name, host] of [
    ['Build server', 'build.example.com'],
    ['Chat', 'chat.example.com'],
  ] as const)
    await owner.call('POST /games/{game_id}/webhooks', { game_id, name, url: `https://${host}/mods` });
  await owner.call('POST /games/{game_id}/oauth/clients', {
    game_id,
    name: 'Lantern Yard launcher',
    grants: ['authorization_code', 'refresh_token'],
    redirect_uris: ['https://example.com/signed-in', 'http://localhost:7777/signed-in'],
  });
  for (const [name, tokens, price] of [
    ['Handful', 500, 499],
    ['Chest', 1_200, 999],
  ] as const)
    await owner.call('POST /games/{game_id}/monetization/token-packs', {
      game_id,
      name,
      tokens,
      price,
      currency: 'EUR',
    });
}

/** An empty installation, which opens the wizard. */
export async function startEmpty() {
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'modstead-pictures-'));
  const env = { ...process.env, MODSTEAD_DATA: data, MODSTEAD_PORT: '0' };
  const child = spawn(process.execPath, ['bin/modstead.mjs', 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let address: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    address = /Set up the site: (\S+)/.exec(line)?.[1];
    if (address) break;
  }
  const stop = async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
    fs.rmSync(data, { recursive: true });
  };
  return { address: address!, stop };
}
