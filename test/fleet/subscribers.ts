import { Agent } from 'node:http';
import { closeApp, composeApp, outsideOf } from '../../src/composition/compose.ts';
import { addUser } from '../../src/people/users/users.ts';
import { issueToken } from '../../src/platform/access/credentials.ts';
import { readSettings } from '../../src/platform/config/settings.ts';
import { type Answer, type Asked, ask, type Door, type Doors } from './doors.ts';

interface Subscriber {
  readonly token: string;
  isSubscribed: boolean;
}

export async function makeSubscribers(env: NodeJS.ProcessEnv, count: number): Promise<Subscriber[]> {
  const settings = readSettings(env);
  const app = await composeApp(settings, 'production', outsideOf(settings));
  try {
    return await app.db.write(async (transaction) => {
      const made: Subscriber[] = [];
      for (let i = 0; i < count; i += 1) {
        const { id } = await addUser(app, transaction, { username: `Subscriber ${i}` });
        const { access_token } = await issueToken(app, transaction, { userId: id });
        made.push({ token: access_token, isSubscribed: false });
      }
      return made;
    });
  } finally {
    await closeApp(app);
  }
}

/** Players who subscribe to a mod, rate it and leave it again, so that every program that runs changes its counters. */
export class Subscriptions {
  acknowledged = 0;
  readonly wrong: string[] = [];
  readonly #subscribers: readonly Subscriber[];
  readonly #doors: Doors;
  readonly #agent = new Agent({ keepAlive: true });
  /** The path of the mod. */
  mod = '';
  #before = 0;
  #isStopped = false;
  #running: Promise<unknown> | undefined;

  constructor(subscribers: readonly Subscriber[], doors: Doors) {
    this.#subscribers = subscribers;
    this.#doors = doors;
  }

  get token(): string {
    return this.#subscribers[0]!.token;
  }

  /** They all choose the first mod of the first game. */
  async start(): Promise<void> {
    const game = await this.#firstOf('/v1/games?_sort=id&_limit=1');
    this.mod = `/v1/games/${game}/mods/${await this.#firstOf(`/v1/games/${game}/mods?_sort=id&_limit=1`)}`;
    this.#before = await this.#counted();
    this.#running = Promise.all(this.#subscribers.map((each, i) => this.#comeAndGo(each, i)));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  /** The mod has as many subscribers as there are acknowledged subscriptions. */
  async check(): Promise<void> {
    const expected = this.#before + this.#subscribers.filter(({ isSubscribed }) => isSubscribed).length;
    const counted = await this.#counted();
    if (counted !== expected) this.wrong.push(`${this.mod} has ${expected} subscribers, and ${counted} are counted`);
    this.#agent.destroy();
  }

  async #comeAndGo(subscriber: Subscriber, first: number): Promise<void> {
    for (let turn = first; !this.#isStopped; turn += 1) {
      const method = subscriber.isSubscribed ? 'DELETE' : 'POST';
      await this.#doors.through(turn, async (door) => {
        const done = await this.#write(door, { method, path: `${this.mod}/subscribe`, token: subscriber.token });
        if (!done) return;
        subscriber.isSubscribed = !subscriber.isSubscribed;
        const body = `rating=${subscriber.isSubscribed ? 1 : -1}`;
        await this.#write(door, { method: 'POST', path: `${this.mod}/ratings`, token: subscriber.token, body });
      });
    }
  }

  async #write(door: Door, asked: Asked): Promise<boolean> {
    const answer = await ask(door, this.#agent, asked);
    const isDone = answer !== undefined && answer.status < 300;
    if (isDone) this.acknowledged += 1;
    else this.wrong.push(`${asked.method} ${asked.path}: ${said(answer)}`);
    return isDone;
  }

  async #read<T>(path: string): Promise<T> {
    const asked = { method: 'GET', path, token: this.token };
    const answer = await this.#doors.through(0, (door) => ask(door, this.#agent, asked));
    if (answer?.status !== 200) throw new Error(`GET ${path}: ${said(answer)}`);
    return JSON.parse(answer.body);
  }

  async #firstOf(path: string): Promise<number> {
    return (await this.#read<{ data: { id: number }[] }>(path)).data[0]!.id;
  }

  async #counted(): Promise<number> {
    return (await this.#read<{ subscribers_total: number }>(`${this.mod}/stats`)).subscribers_total;
  }
}

const said = (answer: Answer | undefined) => (answer ? `${answer.status} ${answer.body.slice(0, 200)}` : 'broken off');
