import { z } from 'zod';
import { type Caller, readerMayWrite, user } from '../../platform/access/caller.ts';
import { GamePath, ModPath, pageOf, pageOfAll, pagesOnly } from '../../platform/http/objects.ts';
import { Created, created, csv, noContent, ok, operation } from '../../platform/http/operation.ts';
import type { Place, Ranking } from '../../records/metrics/reading.ts';
import type { Step } from '../../records/metrics/sessions.ts';
import { daysOf, modDaysOf, monthsOf, topOf } from './metrics.ts';
import {
  MetricsDayObject,
  MetricsMonthObject,
  MetricsRankingObject,
  MetricsSecretObject,
  ModMetricsDayObject,
  toCsv,
  toRanking,
} from './object.ts';
import { removeSecret, renewSecret, showSecret } from './secrets.ts';
import { report } from './sessions.ts';

const SessionBody = z.object({
  session_id: z.string().min(1).max(100),
  session_ts: z.int().min(1).meta({ description: 'Unix time, in seconds or milliseconds' }),
  session_nonce: z.string().min(1).max(200),
  session_order_id: z.int().min(1).meta({ description: 'Higher with every report of a session' }),
  session_hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/i)
    .meta({ description: 'HMAC-SHA256 of ids, time, session and nonce with the secret of the game, in hexadecimal' }),
});
const StartBody = SessionBody.extend({
  ids: z.array(z.int().min(1)).max(1_000).default([]).meta({ description: 'The mods in use.' }),
});

const gameOf = (caller: Caller): number | undefined =>
  caller.kind === 'key' || caller.kind === 'user' || caller.kind === 'service' ? caller.gameId : undefined;

const sessionOperation = <B extends typeof SessionBody | typeof StartBody>(step: Step, says: string, body: B) =>
  operation({
    id: `metrics-session-${step}`,
    tag: 'Metrics',
    method: 'POST',
    path: `/metrics/sessions/${step}`,
    says,
    access: readerMayWrite(),
    body: body as typeof SessionBody,
    json: true,
    returns: noContent,
    errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'METRICS_INTERNAL_ERROR'],
    handle: (app, { caller, body: sent, hostGameId, platform }) =>
      report(
        app,
        caller,
        hostGameId ?? gameOf(caller),
        step,
        {
          sessionId: sent.session_id,
          ts: sent.session_ts,
          nonce: sent.session_nonce,
          orderId: sent.session_order_id,
          hash: sent.session_hash,
          ids: (sent as { ids?: number[] }).ids ?? [],
        },
        platform,
      ),
  });

export const startSession = sessionOperation(
  'start',
  'Reports that a player starts a session, and its mods.',
  StartBody,
);
export const continueSession = sessionOperation('heartbeat', 'Reports that the session continues.', SessionBody);
export const endSession = sessionOperation('end', 'Reports that the session has ended.', SessionBody);

const SECRET = '/games/{game_id}/metrics/secret';
const ADMINISTRATORS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_ADMIN_PERMISSION'] as const;

export const getMetricsSecret = operation({
  id: 'get-metrics-secret',
  tag: 'Metrics',
  method: 'GET',
  path: SECRET,
  says: 'Shows the secret with which a game signs session reports. Administrators of the game only.',
  access: user('read', 'team'),
  params: GamePath,
  returns: ok(MetricsSecretObject),
  errors: [...ADMINISTRATORS, 'METRICS_INTERNAL_ERROR'],
  handle: (app, { caller, params }) => showSecret(app, caller, params.game_id),
});

export const addMetricsSecret = operation({
  id: 'add-metrics-secret',
  tag: 'Metrics',
  method: 'POST',
  path: SECRET,
  says: 'Replaces the secret for session reports. The old one stops working at once.',
  access: user('write', 'team'),
  params: GamePath,
  once: true,
  returns: created(MetricsSecretObject),
  errors: ADMINISTRATORS,
  handle: async (app, { caller, params: { game_id } }) =>
    new Created(
      await renewSecret(app, caller, game_id),
      `${app.addresses.gameApi(game_id)}/games/${game_id}/metrics/secret`,
    ),
});

export const deleteMetricsSecret = operation({
  id: 'delete-metrics-secret',
  tag: 'Metrics',
  method: 'DELETE',
  path: SECRET,
  says: 'Removes the secret of a game. Session reports are refused from then on.',
  access: user('write', 'team'),
  params: GamePath,
  returns: noContent,
  errors: ADMINISTRATORS,
  handle: (app, { caller, params }) => removeSecret(app, caller, params.game_id),
});

const TEAM = ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'] as const;
const SpanQuery = z.object({
  from: z.iso.date().optional().meta({ description: 'The first day; by default 30 days before the last one.' }),
  to: z.iso.date().optional().meta({ description: 'The last day, at most a year after the first; by default today.' }),
});

/** The platform header selects the metrics of that platform. */
const placeOf = ({ game_id: gameId }: { game_id: number }, platform = ''): Place => ({ gameId, platform });

export const getGameMetrics = operation({
  id: 'get-game-metrics',
  tag: 'Metrics',
  method: 'GET',
  path: '/games/{game_id}/metrics/days',
  says: 'Lists the metrics of a game by day; with a platform header, those of the platform. Its team only.',
  access: user('read', 'team'),
  params: GamePath,
  query: SpanQuery,
  list: pagesOnly,
  returns: ok(pageOf(MetricsDayObject)),
  errors: TEAM,
  handle: async (app, { caller, params, query, platform, list }) =>
    pageOfAll(await daysOf(app, caller, placeOf(params, platform), query), list),
});

export const exportGameMetrics = operation({
  id: 'export-game-metrics',
  tag: 'Metrics',
  method: 'GET',
  path: '/games/{game_id}/metrics/days/csv',
  says: 'Exports the metrics of a game by day as CSV. Its team only.',
  access: user('read', 'team'),
  params: GamePath,
  query: SpanQuery,
  returns: csv,
  errors: TEAM,
  handle: async (app, { caller, params, query, platform }) =>
    toCsv(params.game_id, await daysOf(app, caller, placeOf(params, platform), query)),
});

const MOD_TEAM = [...TEAM, 'MOD_NOT_FOUND', 'MOD_DELETED', 'MOD_NO_VIEW_PERMISSION'] as const;

export const getModMetrics = operation({
  id: 'get-mod-metrics',
  tag: 'Metrics',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/metrics/days',
  says: 'Lists the metrics of a mod by day; with a platform header, those of the platform. Its team and the game’s team only.',
  access: user('read'),
  params: ModPath,
  query: SpanQuery,
  list: pagesOnly,
  returns: ok(pageOf(ModMetricsDayObject)),
  errors: MOD_TEAM,
  handle: async (app, { caller, params: { game_id, mod_id: modId }, query, platform = '', list }) =>
    pageOfAll(await modDaysOf(app, caller, game_id, { modId, platform }, query), list),
});

export const exportModMetrics = operation({
  id: 'export-mod-metrics',
  tag: 'Metrics',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/metrics/days/csv',
  says: 'Exports the metrics of a mod by day as CSV. Its team and the game’s team only.',
  access: user('read'),
  params: ModPath,
  query: SpanQuery,
  returns: csv,
  errors: MOD_TEAM,
  handle: async (app, { caller, params: { game_id, mod_id: modId }, query, platform = '' }) =>
    toCsv(modId, await modDaysOf(app, caller, game_id, { modId, platform }, query)),
});

const MonthName = z
  .string()
  .regex(/^\d{4}-(?:0[1-9]|1[0-2])$/)
  .optional();

export const getGameMetricsMonths = operation({
  id: 'get-game-metrics-months',
  tag: 'Metrics',
  method: 'GET',
  path: '/games/{game_id}/metrics/months',
  says: 'Lists the metrics of a game by month. A user who was active on several days counts once. Its team only.',
  access: user('read', 'team'),
  params: GamePath,
  query: z.object({
    from: MonthName.meta({
      description: 'The first month, such as `2026-11`; by default twelve months up to the last one.',
    }),
    to: MonthName.meta({
      description: 'The last month, at most three years after the first; by default the current one.',
    }),
  }),
  list: pagesOnly,
  returns: ok(pageOf(MetricsMonthObject)),
  errors: TEAM,
  handle: async (app, { caller, params, query, platform, list }) =>
    pageOfAll(await monthsOf(app, caller, placeOf(params, platform), query), list),
});

const rankingOperation = (ranking: Ranking, says: string) =>
  operation({
    id: `get-top-${ranking}`,
    tag: 'Metrics',
    method: 'GET',
    path: `/games/{game_id}/metrics/top/${ranking}`,
    says,
    access: user('read', 'team'),
    params: GamePath,
    query: z.object({
      month: MonthName.meta({ description: 'In UTC, such as `2026-11`; by default the current month.' }),
    }),
    list: pagesOnly,
    returns: ok(pageOf(MetricsRankingObject)),
    errors: TEAM,
    handle: async (app, { caller, params, query, platform, list }) =>
      pageOfAll(toRanking(await topOf(app, caller, placeOf(params, platform), ranking, query.month)), list),
  });

export const getTopMods = rankingOperation(
  'mods',
  'Lists the most downloaded mods of a game in a month. Its team only.',
);
export const getTopCreators = rankingOperation(
  'creators',
  'Lists the creators with the most downloads in a game in a month. Its team only.',
);

export const metricsOperations = [
  startSession,
  continueSession,
  endSession,
  getMetricsSecret,
  addMetricsSecret,
  deleteMetricsSecret,
  getGameMetrics,
  exportGameMetrics,
  getModMetrics,
  exportModMetrics,
  getGameMetricsMonths,
  getTopMods,
  getTopCreators,
];
