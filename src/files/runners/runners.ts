import { lockGame, requireGame, requireGameAdministrator } from '../../catalogue/games/games.ts';
import { MODERATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { runnersChanged } from '../builds/builds.ts';
import { type Cooking, releaseClaims } from '../cooks/claims.ts';
import * as store from './store.ts';

export type { RunnerRow } from './store.ts';

const RUNNERS_MAX = 100;
const SEEN_SECONDS = 60;

export interface RunnerWish {
  readonly name: string;
  readonly platforms: readonly string[];
}

export interface WithSecret {
  readonly runner: store.RunnerRow;
  readonly secret: string;
}

/** Allowed for the game’s team. */
export async function listRunners(app: App, caller: Caller, gameId: number): Promise<store.RunnerRow[]> {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < MODERATOR)
    throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  return store.ofGame(app.db.query, gameId);
}

export const addRunner = (app: App, caller: UserCaller, gameId: number, wish: RunnerWish): Promise<WithSecret> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    await lockGame(transaction, gameId);
    if ((await store.ofGame(transaction.query, gameId)).length >= RUNNERS_MAX)
      throw new ApiError('VALIDATION_GENERIC', {
        fields: [{ field: 'name', rule: 'array_max', values: { max: RUNNERS_MAX } }],
      });
    const secret = `ckrun_${app.random.token()}`;
    const runner = await store.add(transaction.query, {
      game_id: gameId,
      name: wish.name,
      platforms: [...new Set(wish.platforms)].join(' '),
      digest: app.secrets.digest(secret),
      added_by: caller.userId,
      date_added: app.clock.now(),
      date_seen: 0,
      date_revoked: 0,
    });
    transaction.made?.(runner.id);
    await runnersChanged(app, transaction, gameId, caller);
    await audit(app, transaction, audited(caller, gameId, runner.id, 'cook-runners.add'));
    return { runner, secret };
  });

/** Revokes the runner at once, and requeues its cooks. */
export const revokeRunner = (app: App, caller: UserCaller, gameId: number, id: number): Promise<void> =>
  app.db.write(async (transaction) => {
    await requireGameAdministrator(transaction, caller, gameId);
    await lockGame(transaction, gameId);
    if (!(await store.revoke(transaction.query, gameId, id, app.clock.now()))) throw new ApiError('RESOURCE_NOT_FOUND');
    await releaseClaims(app, transaction, id);
    await runnersChanged(app, transaction, gameId, caller);
    await audit(app, transaction, audited(caller, gameId, id, 'cook-runners.revoke'));
  });

const audited = (caller: UserCaller, gameId: number, runner: number, action: string) => ({
  actor: caller.userId,
  action,
  subject: { resource: 'games', id: gameId, gameId },
  data: { runner },
});

/** Authenticates a runner by its secret. */
export async function requireRunner(app: App, secret: string | undefined): Promise<Cooking> {
  const row = secret ? await store.byDigest(app.db, app.secrets.digest(secret)) : undefined;
  if (!row) throw new ApiError('TOKEN_EXPIRED_OR_REVOKED');
  const now = app.clock.now();
  if (row.date_seen <= now - SEEN_SECONDS)
    await app.db.write(async ({ query }) => void (await store.seen(query, row.id, now)));
  return { id: row.id, game_id: row.game_id, platforms: row.platforms.split(' '), added_by: row.added_by };
}
