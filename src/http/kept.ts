import { LRUCache } from 'lru-cache';
import type { App } from '../context.ts';
import type { Scope } from '../database/database.ts';
import type { AnyOperation } from './operation.ts';

/** An answer kept as it leaves, good as long as no scope it depends on has moved. */
export interface KeptAnswer {
  readonly body: Buffer | string;
  readonly bytes: number;
  readonly headers: readonly string[];
  readonly scopes: readonly Scope[];
  /** `Changes.now()` before anything was read for it. */
  readonly asOf: number;
  /** Unix seconds; from then on it is outdated whatever has changed. */
  readonly until: number;
  readonly operation: AnyOperation;
}

export interface KeptAnswers {
  fresh(key: string): KeptAnswer | undefined;
  keep(key: string, answer: KeptAnswer): void;
}

export function keepAnswers({ db: { changes }, clock }: Pick<App, 'db' | 'clock'>, megabytes: number): KeptAnswers {
  if (megabytes === 0) return { fresh: () => undefined, keep: () => {} };
  const answers = new LRUCache<string, KeptAnswer>({
    maxSize: megabytes * 1024 * 1024,
    maxEntrySize: 4 * 1024 * 1024,
    sizeCalculation: (answer, key) => answer.bytes + key.length * 2 + 512,
  });
  const isFresh = ({ scopes, asOf, until }: KeptAnswer) => {
    if (clock.now() >= until) return false;
    for (const scope of scopes) if (!changes.unchangedSince(asOf, scope)) return false;
    return true;
  };
  return {
    fresh(key) {
      const answer = answers.get(key);
      if (!answer) return undefined;
      if (isFresh(answer)) return answer;
      answers.delete(key);
      return undefined;
    },
    keep: (key, answer) => void answers.set(key, answer),
  };
}
