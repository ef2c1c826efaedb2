import { z } from 'zod';
import { readerMayWrite, user } from '../../platform/access/caller.ts';
import { GamePath, Id, Integer, MessageObject, PathId, page, pageOf, Timestamp } from '../../platform/http/objects.ts';
import { Created, created, ok, operation } from '../../platform/http/operation.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { type LaterText, localise } from '../../platform/localisation/texts.ts';
import { REASONS_MAX, submitReport } from './reports.ts';
import {
  itemListing,
  listReportedItems,
  listReportedItemsOfSite,
  listReports,
  listReportsOfGame,
  type ReportedItem,
  type ReportRow,
  reportListing,
  resolveInGame,
  resolveOnSite,
} from './resolving.ts';
import type { Resource } from './subjects.ts';

const RESOURCES = ['games', 'mods', 'users', 'guides', 'collections', 'comments'] as const satisfies Resource[];
const resourceNamed = (text: string) => RESOURCES.find((resource) => resource === text.toLowerCase());

const NewReport = z.object({
  resource: z
    .string()
    .trim()
    .refine((text) => resourceNamed(text) !== undefined, { params: { rule: 'invalid' } })
    .transform((text) => resourceNamed(text)!)
    .meta({ description: 'GAMES, MODS, USERS, GUIDES, COLLECTIONS or COMMENTS, in any case.' }),
  id: z
    .string()
    .trim()
    .min(1)
    .max(1_000)
    .meta({ description: 'Its id, its name_id, or the URL of its page on this site.' }),
  type: z.int().min(0).max(255).meta({
    description:
      '0 generic, 1 DMCA, 2 not working, 3 rude content, 4 illegal content, 5 stolen content, 6 false information, 7 other',
  }),
  summary: z.string().trim().min(1).max(5_000),
  name: z.string().trim().max(255).default('').meta({ description: 'The name of the reporter.' }),
  contact: z.string().trim().max(255).default('').meta({ description: 'The contact of the reporter.' }),
  reason: z.int().min(0).max(REASONS_MAX).default(0).meta({
    description:
      'Why a mod does not work: 1 crashes the game, 2 does not load, 3 conflicts with other mods, 4 missing dependencies, 5 installation issues, 6 buggy behaviour, 7 incompatible with the game’s version, 8 file corruption',
  }),
  platforms: z.string().trim().max(500).default('').meta({
    description: 'The platforms on which it does not work: ALL, or names such as WINDOWS, separated by commas.',
  }),
  game_name_id: z
    .string()
    .trim()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'The game of a name_id, or in which a user was met.' }),
});

export const submitReportOperation = operation({
  id: 'submit-report',
  tag: 'Reports',
  method: 'POST',
  path: '/report',
  says: 'Reports content or a user to the moderators. Anonymous callers can report too.',
  access: readerMayWrite(),
  limit: 10,
  body: NewReport,
  once: true,
  returns: created(MessageObject),
  errors: [
    'RESOURCE_NOT_FOUND',
    'REPORT_INVALID_URL',
    'REPORT_INVALID_NAMEID',
    'REPORT_RESOURCE_NOT_AVAILABLE_FOR_REPORT',
    'REPORT_NO_REPORT_PERMISSION_BY_ADMIN',
    'MOD_REPORT_INVALID_TYPE',
    'MOD_REPORT_INVALID_PLATFORM',
    'MOD_REPORT_PLATFORM_REQUIRED',
    'MOD_NOT_SUBSCRIBED',
    'MOD_REPORT_TOO_EARLY',
    'MOD_REPORT_EXISTING_UNRESOLVED',
  ],
  handle: async (app, { caller, body: { game_name_id: gameNameId, ...report }, language }) => {
    const address = await submitReport(app, caller, { ...report, gameNameId });
    return new Created({ code: 201, message: localise('report_submitted', language) }, address);
  },
});

const ReportObject = z
  .object({
    id: Id,
    resource: z.string(),
    resource_id: Id,
    game_id: Integer,
    author_id: Integer.meta({ description: 'The author of the reported content' }),
    user_id: Integer.meta({ description: 'The reporter; 0 for an anonymous one' }),
    rule_id: Integer.meta({ description: 'The rule of the game that reported it; 0 if a user did' }),
    type: Integer,
    reason: Integer,
    platforms: z.string(),
    status: Integer.meta({ description: '0 open, 1 resolved' }),
    summary: z.string().meta({ description: 'In the language of the request if a rule or a scan reported it.' }),
    name: z.string(),
    contact: z.string(),
    resolution: z.string(),
    resolved_by: Integer,
    date_added: Timestamp,
    date_resolved: Timestamp,
  })
  .meta({ id: 'Report' });

function toReport({ found, ...row }: ReportRow, language: Language): z.output<typeof ReportObject> {
  if (found === '') return row;
  const { name, values } = JSON.parse(found) as LaterText;
  // A rule has another ID after an import into another service.
  return { ...row, summary: localise(name, language, { ...values, rule: row.rule_id }) };
}

const ReportedItemObject = z
  .object({
    id: Id.meta({ description: 'The id of the first of these reports' }),
    resource: z.string(),
    resource_id: Id,
    game_id: Integer.meta({ description: '0 for users who were not met in a game' }),
    author_id: Integer,
    reports: Integer.meta({ description: 'The number of reports' }),
    has_dmca: z.boolean(),
    date_first: Timestamp,
    date_last: Timestamp,
  })
  .meta({ id: 'ReportedItem' });

const toItem = ({ dmca, ...row }: ReportedItem): z.input<typeof ReportedItemObject> => ({
  ...row,
  reports: Number(row.reports),
  has_dmca: Number(dmca) === 1,
});

const OF_GAME = ['GAME_NOT_FOUND', 'GAME_DELETED', 'RESOURCE_NO_MODERATE_PERMISSION'] as const;
const ReportPath = z.object({ report_id: PathId });
const Resolution = z.object({ reason: z.string().trim().max(5_000).default('') });

export const getReportedItems = operation({
  id: 'get-game-reported-items',
  tag: 'Moderation',
  method: 'GET',
  path: '/games/{game_id}/moderation/reports',
  says: 'Lists the reported content of a game, one row per item with the number of reports. By default open reports; `type` 1 is the queue of DMCA, 2 of mods that do not work. Allowed for its team.',
  access: user('read', 'team'),
  params: GamePath,
  list: itemListing,
  returns: ok(pageOf(ReportedItemObject)),
  errors: OF_GAME,
  handle: async (app, { caller, params, list }) => {
    const { rows, total } = await listReportedItems(app, caller, params.game_id, list);
    return page(rows.map(toItem), total, list);
  },
});

export const getReportedItemsOfSite = operation({
  id: 'get-reported-items',
  tag: 'Moderation',
  method: 'GET',
  path: '/moderation/reports',
  says: 'Lists the reported content of all games, one row per item with the number of reports. By default open reports; `type` 1 is the queue of DMCA, 2 of mods that do not work. Allowed for site administrators.',
  access: user('read', 'staff'),
  list: itemListing,
  returns: ok(pageOf(ReportedItemObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list }) => {
    const { rows, total } = await listReportedItemsOfSite(app, caller, list);
    return page(rows.map(toItem), total, list);
  },
});

export const getGameReports = operation({
  id: 'get-game-reports',
  tag: 'Moderation',
  method: 'GET',
  path: '/games/{game_id}/reports',
  says: 'Lists the reports in a game, by default open ones. Allowed for its team.',
  access: user('read', 'team'),
  params: GamePath,
  list: reportListing,
  returns: ok(pageOf(ReportObject)),
  errors: OF_GAME,
  handle: async (app, { caller, params, list, language }) => {
    const { rows, total } = await listReportsOfGame(app, caller, params.game_id, list);
    return page(
      rows.map((row) => toReport(row, language)),
      total,
      list,
    );
  },
});

export const resolveGameReport = operation({
  id: 'resolve-game-report',
  tag: 'Moderation',
  method: 'POST',
  path: '/games/{game_id}/reports/{report_id}/resolve',
  says: 'Resolves one report. Allowed for the game’s team.',
  access: user('write', 'team'),
  params: GamePath.extend(ReportPath.shape),
  body: Resolution,
  emptyBody: true,
  returns: ok(ReportObject),
  errors: [...OF_GAME, 'REPORT_NOT_FOUND', 'REPORT_ALREADY_RESOLVED'],
  handle: async (app, { caller, params, body, language }) =>
    toReport(await resolveInGame(app, caller, params.game_id, params.report_id, body.reason), language),
});

export const getReports = operation({
  id: 'get-reports',
  tag: 'Moderation',
  method: 'GET',
  path: '/reports',
  says: 'Lists the reports of the whole site, by default open ones. Allowed for site administrators.',
  access: user('read', 'staff'),
  list: reportListing,
  returns: ok(pageOf(ReportObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list, language }) => {
    const { rows, total } = await listReports(app, caller, list);
    return page(
      rows.map((row) => toReport(row, language)),
      total,
      list,
    );
  },
});

export const resolveReport = operation({
  id: 'resolve-report',
  tag: 'Moderation',
  method: 'POST',
  path: '/reports/{report_id}/resolve',
  says: 'Resolves one report. Allowed for site administrators; reports about a user in a game are resolved by its team.',
  access: user('write', 'staff'),
  params: ReportPath,
  body: Resolution,
  emptyBody: true,
  returns: ok(ReportObject),
  errors: [
    'USER_CANT_VIEW_ADMIN_ONLY',
    'REPORT_NOT_FOUND',
    'REPORT_ALREADY_RESOLVED',
    'REPORT_USER_REPORT_BELONGS_TO_GAME',
  ],
  handle: async (app, { caller, params, body, language }) =>
    toReport(await resolveOnSite(app, caller, params.report_id, body.reason), language),
});

export const reportOperations = [
  submitReportOperation,
  getReportedItems,
  getReportedItemsOfSite,
  getGameReports,
  resolveGameReport,
  getReports,
  resolveReport,
];
