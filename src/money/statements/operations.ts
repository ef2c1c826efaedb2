import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { GamePath, Id, page, pageOf, pageOfAll, pagesOnly } from '../../platform/http/objects.ts';
import { csv, ok, operation } from '../../platform/http/operation.ts';
import {
  accountsCsv,
  GameStatementObject,
  PeriodFields,
  SellerStatementObject,
  sellersCsv,
  toGameStatement,
  toSellerStatement,
} from './object.ts';
import { allOf, gameSellerStatements, gameStatement, ownStatements, siteStatements } from './statements.ts';

const PeriodQuery = z.object(PeriodFields);
const OwnQuery = z.object({
  ...PeriodFields,
  game_id: Id.optional().meta({ description: 'One game instead of all.' }),
});
const FINANCE = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_UPDATE_PERMISSION', 'VALIDATION_GENERIC'] as const;
const SITE = ['USER_CANT_VIEW_ADMIN_ONLY', 'VALIDATION_GENERIC'] as const;

/** They read everything since the period began. */
const LIMIT = 20;
const OWN = '/me/statements';
const GAME = '/games/{game_id}/monetization/statement';

export const getUserStatements = operation({
  id: 'get-user-statements',
  tag: 'Me',
  method: 'GET',
  path: OWN,
  says: 'Lists what the person earned in a period, per game: one statement of pending tokens, and one per currency that is paid out. Opening balance, movements and closing balance are those of the books.',
  access: user('read', 'money'),
  limit: LIMIT,
  query: OwnQuery,
  list: pagesOnly,
  returns: ok(pageOf(SellerStatementObject)),
  errors: ['VALIDATION_GENERIC'],
  handle: async (app, { caller, query, list }) =>
    pageOfAll((await ownStatements(app, caller, query.game_id, query)).map(toSellerStatement), list),
});

export const exportUserStatements = operation({
  id: 'export-user-statements',
  tag: 'Me',
  method: 'GET',
  path: `${OWN}/csv`,
  says: 'Exports the statements of the person as CSV, with the same columns.',
  access: user('read', 'money'),
  limit: LIMIT,
  query: OwnQuery,
  returns: csv,
  errors: ['VALIDATION_GENERIC'],
  handle: async (app, { caller, query }) =>
    sellersCsv(await ownStatements(app, caller, query.game_id, query), 'statements.csv'),
});

export const getGameStatement = operation({
  id: 'get-game-statement',
  tag: 'Monetization',
  method: 'GET',
  path: GAME,
  says: 'Shows the books of a game in a period: opening balance, sales, refunds, clawbacks, clearing, payouts and closing balance of every account. Each column sums to zero per currency. For its administrators.',
  access: user('read', 'team'),
  limit: LIMIT,
  params: GamePath,
  query: PeriodQuery,
  returns: ok(GameStatementObject),
  errors: FINANCE,
  handle: async (app, { caller, params, query }) =>
    toGameStatement(await gameStatement(app, caller, params.game_id, query)),
});

export const exportGameStatement = operation({
  id: 'export-game-statement',
  tag: 'Monetization',
  method: 'GET',
  path: `${GAME}/csv`,
  says: 'Exports the books of a game in a period as CSV, a line per account. For its administrators.',
  access: user('read', 'team'),
  limit: LIMIT,
  params: GamePath,
  query: PeriodQuery,
  returns: csv,
  errors: FINANCE,
  handle: async (app, { caller, params, query }) =>
    accountsCsv([await gameStatement(app, caller, params.game_id, query)], `statement-${params.game_id}.csv`),
});

export const getGameSellerStatements = operation({
  id: 'get-game-seller-statements',
  tag: 'Monetization',
  method: 'GET',
  path: `${GAME}/sellers`,
  says: 'Lists what each seller of a game earned in a period. A page has the statements of `_limit` sellers, and `result_total` counts sellers. For its administrators.',
  access: user('read', 'team'),
  limit: LIMIT,
  params: GamePath,
  query: PeriodQuery,
  list: pagesOnly,
  returns: ok(pageOf(SellerStatementObject)),
  errors: FINANCE,
  handle: async (app, { caller, params, query, list }) => {
    const { statements, total } = await gameSellerStatements(app, caller, params.game_id, query, list);
    return page(statements.map(toSellerStatement), total, list);
  },
});

export const exportGameSellerStatements = operation({
  id: 'export-game-seller-statements',
  tag: 'Monetization',
  method: 'GET',
  path: `${GAME}/sellers/csv`,
  says: 'Exports what each seller of a game earned in a period as CSV. For its administrators.',
  access: user('read', 'team'),
  limit: LIMIT,
  params: GamePath,
  query: PeriodQuery,
  returns: csv,
  errors: FINANCE,
  handle: async (app, { caller, params: { game_id }, query }) =>
    sellersCsv(
      await allOf((list) => gameSellerStatements(app, caller, game_id, query, list)),
      `sellers-${game_id}.csv`,
    ),
});

export const getStaffStatements = operation({
  id: 'get-staff-statements',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/statements',
  says: 'Lists the books of all games in a period, a page of games at a time. For administrators of the site.',
  access: user('read', 'staff'),
  limit: LIMIT,
  query: PeriodQuery,
  list: pagesOnly,
  returns: ok(pageOf(GameStatementObject)),
  errors: SITE,
  handle: async (app, { caller, query, list }) => {
    const { statements, total } = await siteStatements(app, caller, query, list);
    return page(statements.map(toGameStatement), total, list);
  },
});

export const exportStaffStatements = operation({
  id: 'export-staff-statements',
  tag: 'Staff',
  method: 'GET',
  path: '/staff/statements/csv',
  says: 'Exports the books of all games in a period as CSV, a line per account. For administrators of the site.',
  access: user('read', 'staff'),
  limit: LIMIT,
  query: PeriodQuery,
  returns: csv,
  errors: SITE,
  handle: async (app, { caller, query }) =>
    accountsCsv(await allOf((list) => siteStatements(app, caller, query, list)), 'statements.csv'),
});

export const statementOperations = [
  getUserStatements,
  exportUserStatements,
  getGameStatement,
  exportGameStatement,
  getGameSellerStatements,
  exportGameSellerStatements,
  getStaffStatements,
  exportStaffStatements,
];
