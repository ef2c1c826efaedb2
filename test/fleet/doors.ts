import { type Agent, type IncomingMessage, request } from 'node:http';

const TIMEOUT_MS = 25_000;

/** Where a service listens. */
export interface Door {
  readonly host: string;
  readonly port: number;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  /** Without it anonymously. */
  readonly token?: string;
  /** A form, unless `type` names another one. */
  readonly body?: string | Buffer;
  readonly type?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  /** Where it redirects to. */
  readonly location?: string | undefined;
}

/** Asks as a proxy does; there is no answer where the connection broke. */
export function ask({ host, port }: Door, agent: Agent, asked: Asked): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const { method, path, token, body, type = 'application/x-www-form-urlencoded' } = asked;
    const headers: Record<string, string> = { 'x-forwarded-proto': 'https' };
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    if (body !== undefined) headers['content-type'] = type;
    const sent = request({ host, port, agent, method, path, headers, timeout: TIMEOUT_MS }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve(answerOf(response, text)));
      response.on('error', () => resolve(undefined));
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => resolve(undefined));
    sent.end(body);
  });
}

const answerOf = ({ statusCode = 0, headers }: IncomingMessage, body: string): Answer => ({
  status: statusCode,
  body,
  location: headers.location,
});

/** The services that a load balancer sends requests to. */
export class Doors {
  #open: readonly Door[];
  readonly #inside = new Map<Door, Set<Promise<unknown>>>();

  constructor(open: readonly Door[]) {
    this.#open = open;
  }

  async through<T>(turn: number, work: (door: Door) => Promise<T>): Promise<T> {
    const door = this.#open[turn % this.#open.length]!;
    const visit = work(door);
    const inside = this.#inside.get(door) ?? new Set();
    this.#inside.set(door, inside.add(visit));
    try {
      return await visit;
    } finally {
      inside.delete(visit);
    }
  }

  /** Sends requests elsewhere from now on, and waits for those that are under way at a closed door. */
  async moveTo(doors: readonly Door[]): Promise<void> {
    this.#open = doors;
    const closed = [...this.#inside].filter(([door]) => !doors.includes(door));
    await Promise.all(closed.flatMap(([, visits]) => [...visits]));
  }
}
