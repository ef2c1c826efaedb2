import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { addGame } from '../../src/catalogue/games/games.ts';
import { addMod } from '../../src/catalogue/mods/mods.ts';
import { closeApp, composeApp, outsideOf } from '../../src/composition/compose.ts';
import { addUser } from '../../src/people/users/users.ts';
import { issueToken } from '../../src/platform/access/credentials.ts';
import { readSettings } from '../../src/platform/config/settings.ts';
import { zipOf } from '../zips.ts';
import { type Answer, ask, type Door, type Doors } from './doors.ts';

const UPLOADERS = 2;
const PAUSE_MS = 100;
const BOUNDARY = '-----modstead-fleet';
const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

/** Uploads one file after the other to a mod of its own. */
interface Uploader {
  readonly mod: string;
  readonly token: string;
}

export async function makeUploaders(env: NodeJS.ProcessEnv, count = UPLOADERS): Promise<Uploader[]> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  try {
    return await app.db.write(async (transaction) => {
      const { id: ownerId } = await addUser(app, transaction, { username: 'Uploader' });
      const game = await addGame(app, transaction, { name: 'Files of the fleet', ownerId, accepted: true });
      const { access_token: token } = await issueToken(app, transaction, { userId: ownerId });
      const made: Uploader[] = [];
      for (let i = 0; i < count; i += 1) {
        const fields = { name: `Files ${i}`, summary: 'Files', gameId: game.id, ownerId, accepted: true };
        const { id } = await addMod(app, transaction, fields);
        made.push({ mod: `/v1/games/${game.id}/mods/${id}`, token });
      }
      return made;
    });
  } finally {
    await closeApp(app);
  }
}

interface Stored {
  readonly path: string;
  readonly token: string;
  readonly bytes: Buffer;
}

/** Uploads small files until it is stopped; each acknowledged one must be in the bucket at the end. */
export class Uploads {
  readonly wrong: string[] = [];
  readonly #uploaders: readonly Uploader[];
  readonly #doors: Doors;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #stored: Stored[] = [];
  #isStopped = false;
  #running: Promise<unknown> | undefined;

  constructor(uploaders: readonly Uploader[], doors: Doors) {
    this.#uploaders = uploaders;
    this.#doors = doors;
  }

  get acknowledged(): number {
    return this.#stored.length;
  }

  start(): void {
    this.#running = Promise.all(this.#uploaders.map((uploader, i) => this.#upload(uploader, i)));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #upload(uploader: Uploader, first: number): Promise<void> {
    for (let turn = first; !this.#isStopped; turn += 1) {
      await this.#doors.through(turn, (door) => this.#uploadOne(door, uploader));
      await pause(PAUSE_MS);
    }
  }

  async #uploadOne(door: Door, { mod, token }: Uploader): Promise<void> {
    const bytes = zipOf({ 'readme.txt': randomUUID() });
    const asked = { method: 'POST', path: `${mod}/files`, token, body: bodyOf(bytes), type: MULTIPART };
    const answer = await ask(door, this.#agent, asked);
    if (answer?.status === 201) this.#stored.push({ path: `${mod}/files/${JSON.parse(answer.body).id}`, token, bytes });
    else if (answer && answer.status !== 503)
      this.wrong.push(`POST ${mod}/files ${answer.status}: ${answer.body.slice(0, 200)}`);
  }

  /** Downloads every acknowledged file from the bucket, by the redirect of the service. */
  async lost(): Promise<string[]> {
    const lost: string[] = [];
    for (const { path, token, bytes } of this.#stored) {
      const found = await this.#download(path, token).catch((error: Error) => error);
      if (found instanceof Error || !found.equals(bytes)) lost.push(`${path}: ${found}`);
    }
    this.#agent.destroy();
    return lost;
  }

  async #download(path: string, token: string): Promise<Buffer> {
    const file = await this.#get({ path, token }, 200);
    const { pathname, search } = new URL(JSON.parse(file.body).download.binary_url);
    const { location } = await this.#get({ path: pathname + search }, 302);
    const found = await fetch(location!);
    if (found.status !== 200) throw new Error(`the bucket answers ${found.status}`);
    return Buffer.from(await found.arrayBuffer());
  }

  async #get(asked: { path: string; token?: string }, status: number): Promise<Answer> {
    const answer = await this.#doors.through(0, (door) => ask(door, this.#agent, { method: 'GET', ...asked }));
    if (answer?.status !== status) throw new Error(`${answer?.status} ${answer?.body.slice(0, 200)}`);
    return answer;
  }
}

const bodyOf = (bytes: Buffer) =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="filedata"; filename="a.zip"\r\n\r\n`),
    bytes,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
