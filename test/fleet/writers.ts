import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { addGame } from '../../src/catalogue/games/games.ts';
import { closeApp, composeApp, outsideOf } from '../../src/composition/compose.ts';
import { addUser } from '../../src/people/users/users.ts';
import { issueToken } from '../../src/platform/access/credentials.ts';
import { readSettings } from '../../src/platform/config/settings.ts';
import { ask, type Door, type Doors } from './doors.ts';

const RETRY_MS = 50;

/** Edits one game repeatedly; after a failure it goes on at another machine. */
interface Writer {
  readonly gameId: number;
  readonly token: string;
  acknowledged: number;
  attempted: number;
}

export async function makeWriters(env: NodeJS.ProcessEnv, count: number): Promise<Writer[]> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  try {
    return await app.db.write(async (transaction) => {
      const owner = await addUser(app, transaction, { username: 'Fleet' });
      const made: Writer[] = [];
      for (let i = 0; i < count; i += 1) {
        const game = { name: `Fleet ${i}`, ownerId: owner.id, accepted: true, summary: '0' };
        const { id } = await addGame(app, transaction, game);
        const { access_token } = await issueToken(app, transaction, { userId: owner.id });
        made.push({ gameId: id, token: access_token, acknowledged: 0, attempted: 0 });
      }
      return made;
    });
  } finally {
    await closeApp(app);
  }
}

/** What the clients saw. */
export interface Seen {
  acknowledged: number;
  read: number;
  refused: number;
  broken: number;
  /** Answers that were neither what was asked for nor a 503. */
  readonly wrong: string[];
  /** When the last write was acknowledged, in monotonic milliseconds. */
  lastAcknowledged: number;
}

/** Writes and reads until it is stopped. */
export class Load {
  readonly seen: Seen = {
    acknowledged: 0,
    read: 0,
    refused: 0,
    broken: 0,
    wrong: [],
    lastAcknowledged: 0,
  };
  readonly #writers: readonly Writer[];
  readonly #doors: Doors;
  readonly #agent = new Agent({ keepAlive: true });
  #isStopped = false;
  #running: Promise<unknown> | undefined;

  constructor(writers: readonly Writer[], doors: Doors) {
    this.#writers = writers;
    this.#doors = doors;
  }

  start(): void {
    this.#running = Promise.all(this.#writers.map((writer, i) => this.#write(writer, i)));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #write(writer: Writer, first: number): Promise<void> {
    for (let turn = first; !this.#isStopped; ) {
      if (await this.#doors.through(turn, (door) => this.#writeAndRead(door, writer))) continue;
      turn += 1;
      await pause(RETRY_MS);
    }
  }

  async #writeAndRead(door: Door, writer: Writer): Promise<boolean> {
    writer.attempted += 1;
    const written = await this.#ask(door, 'PUT', writer, `summary=${writer.attempted}`);
    if (written?.status === 200) {
      writer.acknowledged = writer.attempted;
      this.seen.acknowledged += 1;
      this.seen.lastAcknowledged = performance.now();
    }
    const found = await this.#ask(door, 'GET', writer);
    if (found?.status === 200) this.#judge(writer, found.body);
    return written?.status === 200 && found?.status === 200;
  }

  /** A client reads its own write. */
  #judge(writer: Writer, body: string): void {
    this.seen.read += 1;
    const summary = summaryIn(body);
    if (summary === undefined) this.seen.wrong.push(`not JSON: ${body.slice(0, 200)}`);
    else if (summary < writer.acknowledged || summary > writer.attempted)
      this.seen.wrong.push(`game ${writer.gameId}: read ${summary} after ${writer.acknowledged} was acknowledged`);
  }

  async #ask(door: Door, method: string, writer: Writer, body?: string) {
    const answer = await ask(door, this.#agent, { method, ...addressOf(writer), ...(body && { body }) });
    if (!answer) this.seen.broken += 1;
    else if (answer.status === 503) this.seen.refused += 1;
    else if (answer.status !== 200) this.seen.wrong.push(`${method} ${answer.status}: ${answer.body.slice(0, 200)}`);
    return answer;
  }

  /** Each game must have its last acknowledged value, or one that was attempted after it. */
  async lost(): Promise<string[]> {
    const lost: string[] = [];
    for (const writer of this.#writers) {
      const asked = { method: 'GET', ...addressOf(writer) };
      const answer = await this.#doors.through(0, (door) => ask(door, this.#agent, asked));
      const summary = answer && summaryIn(answer.body);
      if (summary === undefined || summary < writer.acknowledged || summary > writer.attempted)
        lost.push(`game ${writer.gameId}: ${writer.acknowledged} was acknowledged, ${summary} is there`);
    }
    this.#agent.destroy();
    return lost;
  }
}

const addressOf = ({ gameId, token }: Writer) => ({ path: `/v1/games/${gameId}`, token });

function summaryIn(body: string): number | undefined {
  try {
    return Number((JSON.parse(body) as { summary: string }).summary);
  } catch {
    return undefined;
  }
}
