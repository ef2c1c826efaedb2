import type { App } from '../../platform/app.ts';
import type { Changes, Scope } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';
import { UPLOAD_CANCELLED } from './uploads.ts';

/** A process that has not renewed its claim for this long has ended, or stops by itself. */
const CLAIM_SECONDS = 6;
export const RENEW_MS = 2_000;
const FENCE_MS = 4_000;
const LOOK_MS = 500;

export const claimUntil = ({ clock }: Pick<App, 'clock'>): number => clock.now() + CLAIM_SECONDS;

export interface ActiveClaim {
  /** Aborted when another request sends the same part, when the session is closed, and when the claim is lost. */
  readonly signal: AbortSignal;
  end(): void;
}

/**
 * Renews the claim of a part. Of two requests the newer one wins, because the older one often belongs to a lost
 * connection.
 */
export function maintainClaim(app: App, scope: Scope, claim: store.Claim): ActiveClaim {
  const stop = new AbortController();
  const lose = () => stop.abort(new ApiError('MULTIPART_UPLOAD_PART_ALREADY_UPLOADED'));
  let sureAtMs = app.clock.monotonicMs();

  async function renew(): Promise<void> {
    const askedAtMs = app.clock.monotonicMs();
    if (askedAtMs - sureAtMs > FENCE_MS) return lose();
    const isOurs = await app.db.write(({ query }) => store.renewClaim(query, claim, claimUntil(app)));
    if (isOurs) sureAtMs = askedAtMs;
    else lose();
  }

  async function look(): Promise<void> {
    const upload = await store.byUploadId(app.db, claim.upload_id);
    if (upload?.status === UPLOAD_CANCELLED)
      return stop.abort(new ApiError('MULTIPART_UPLOAD_SESSION_ALREADY_CANCELLED'));
    const part = await store.partOf(app.db, claim.upload_id, claim.part_number);
    if (part?.claim !== claim.claim || part.wanted) lose();
  }

  // While the database is unreachable, the claim is valid until its fence expires.
  const timer = setInterval(() => void renew().catch(() => {}), RENEW_MS).unref();
  const unlisten = listen(app.db.changes, scope, () => void look().catch(() => {}));
  return {
    signal: stop.signal,
    end: () => {
      clearInterval(timer);
      unlisten();
    },
  };
}

function listen(changes: Changes, scope: Scope, heard: () => void): () => void {
  return changes.listen((changed) => {
    if (changed === undefined || changed === scope) heard();
  });
}

export interface Watch {
  /** Resolves after the next change, or one since the last call, and after a short timeout in any case. */
  next(): Promise<void>;
  end(): void;
}

export function watch(changes: Changes, scope: Scope): Watch {
  let isChanged = false;
  let wake = () => {};
  const unlisten = listen(changes, scope, () => {
    isChanged = true;
    wake();
  });
  return {
    next: async () => {
      if (!isChanged)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, LOOK_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      isChanged = false;
    },
    end: unlisten,
  };
}
