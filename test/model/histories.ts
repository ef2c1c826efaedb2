import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { verifyLedger } from '../../src/money/ledger/verification.ts';
import type { Api } from '../api.ts';
import { History } from './history.ts';
import { Jobs } from './jobs.ts';

const JUMP_SECONDS = 121;
/** Steps of a game between two jumps of the clock. */
const ROUND = 50;
const COMPARED_EVERY = 4;
const VACUUMED_EVERY = 4;
const TOLD_EVERY = 20;

export interface HistoriesOptions {
  readonly seed: string;
  readonly games: number;
  /** Whether the games take turns; they act at the same time otherwise. */
  readonly inTurn?: boolean;
}

/** Random histories of many games at the same time, on one service with one clock. */
export class Histories {
  readonly #api: Api;
  readonly #jobs: Jobs;
  readonly #inTurn: boolean;
  readonly #histories: readonly History[];
  #rounds = 0;
  #comparisons = 0;
  #verified = 0;
  #verifications = 0;

  constructor(api: Api, { seed, games, inTurn = false }: HistoriesOptions) {
    this.#api = api;
    this.#jobs = new Jobs(api.app());
    this.#inTurn = inTurn;
    this.#histories = Array.from({ length: games }, (_, at) => new History(api, this.#jobs, `${seed}-${at}`));
  }

  async setUp(): Promise<void> {
    for (const history of this.#histories) await history.setUp();
  }

  get operations(): number {
    return this.#histories.reduce((sum, { operations }) => sum + operations, 0);
  }

  /** At least this many operations, in whole rounds. */
  async run(operations: number, told: (line: string) => void = () => {}): Promise<void> {
    const until = this.operations + operations;
    while (this.operations < until) {
      await this.#round();
      if (this.#rounds % COMPARED_EVERY === 0) await this.#compare();
      if (this.#rounds % VACUUMED_EVERY === 0) await this.#vacuum();
      if (this.#rounds % TOLD_EVERY === 0) told(`${this.operations} operations, digest ${await this.digest()}`);
      // Verification reads everything, so a long history is verified each time that it has doubled.
      if (this.operations < this.#verified * 2) continue;
      await this.#verify();
      told(`${this.operations} operations verified`);
    }
    await this.#compare();
    await this.#verify();
  }

  async #round(): Promise<void> {
    await this.#each(async (history) => {
      for (let step = 0; step < ROUND; step += 1) await history.step();
    });
    this.#rounds += 1;
    this.#api.clock.advance(JUMP_SECONDS);
    await this.#jobs.run();
    for (const history of this.#histories) history.jumped(JUMP_SECONDS);
  }

  async #each(act: (history: History) => Promise<void>): Promise<void> {
    if (this.#inTurn) for (const history of this.#histories) await act(history);
    else await Promise.all(this.#histories.map(act));
  }

  async #compare(): Promise<void> {
    await this.#each((history) => history.compare());
    this.#comparisons += this.#histories.length;
  }

  /** The server of the tests does not do it by itself. */
  async #vacuum(): Promise<void> {
    const { db } = this.#api.app();
    if (db.dialect === 'postgres') await db.executeAlone('vacuum analyze');
  }

  async #verify(): Promise<void> {
    assert.deepEqual((await verifyLedger(this.#api.app())).problems, []);
    this.#verified = this.operations;
    this.#verifications += 1;
  }

  /** How often each outcome was met, in all games. */
  get outcomes(): ReadonlyMap<string, number> {
    const all = new Map<string, number>();
    for (const { counts } of this.#histories)
      for (const [outcome, count] of counts) all.set(outcome, (all.get(outcome) ?? 0) + count);
    return all;
  }

  get figures() {
    return {
      operations: this.operations,
      games: this.#histories.length,
      kinds: this.outcomes.size,
      comparisons: this.#comparisons,
      verifications: this.#verifications,
      jumps: this.#rounds,
    };
  }

  /** Two databases with the same histories have the same digest. */
  async digest(): Promise<string> {
    const states: unknown[] = [];
    for (const history of this.#histories) states.push(await history.state());
    return createHash('sha256').update(JSON.stringify(states)).digest('hex').slice(0, 16);
  }
}
