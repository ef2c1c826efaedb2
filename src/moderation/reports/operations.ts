import { z } from 'zod';
import { readerMayWrite, user } from '../../platform/access/caller.ts';
import { GamePath, Id, Integer, MessageObject, PathId, page, pageOf, Timestamp } from '../../platform/http/objects.ts';
import { Created, created, ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { REASONS_MAX, submitReport } from './reports.ts';
import {
  itemListing,
  listReportedItems,
  listReportedItemsOfSite,
  listReports,
  listReportsOfGame,
  type ReportedItem,
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
    .meta({ description: 'GAMES, MODS, USERS, GUIDES, COLLECTIONS or COMMENTS, in letters of either case.' }),
  id: z
    .string()
    .trim()
    .min(1)
    .max(1_000)
    .meta({ description: 'Its id, its name_id, or the address of its page on this site.' }),
  type: z.int().min(0).max(255).meta({
    description:
      '0 generic, 1 DMCA, 2 not working, 3 rude content, 4 illegal content, 5 stolen content, 6 false information, 7 other',
  }),
  summary: z.string().trim().min(1).max(5_000),
  name: z.string().trim().max(255).default('').meta({ description: 'Who reports it.' }),
  contact: z.string().trim().max(255).default('').meta({ description: 'Where they can be answered.' }),
  reason: z.int().min(0).max(REASONS_MAX).default(0).meta({
    description:
      'Of a mod that does not work: 1 crashes the game, 2 does not load, 3 conflicts with other mods, 4 missing dependencies, 5 installation issues, 6 buggy behaviour, 7 incompatible with the game’s version, 8 file corruption',
  }),
  platforms: z
    .string()
    .trim()
    .max(500)
    .default('')
    .meta({ description: 'Where it does not work: ALL, or platforms such as WINDOWS, separated by commas.' }),
  game_name_id: z
    .string()
    .trim()
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'The game in which a name_id is looked up, or in which a person was met.' }),
});

export const submitReportOperation = operation({
  id: 'submit-report',
  tag: 'Reports',
  method: 'POST',
  path: '/report',
  says: 'Reports something to those who decide over it. Nobody has to be signed in for it.',
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
    author_id: Integer.meta({ description: 'Who made what is reported' }),
    user_id: Integer.meta({ description: 'Who reports it; 0 for someone who was not signed in' }),
    rule_id: Integer.meta({ description: 'The rule of the game that reports it; 0 where a person does' }),
    type: Integer,
    reason: Integer,
    platforms: z.string(),
    status: Integer.meta({ description: '0 open, 1 resolved' }),
    summary: z.string(),
    name: z.string(),
    contact: z.string(),
    resolution: z.string(),
    resolved_by: Integer,
    date_added: Timestamp,
    date_resolved: Timestamp,
  })
  .meta({ id: 'Report' });

const ReportedItemObject = z
  .object({
    id: Id.meta({ description: 'Of the first of these reports' }),
    resource: z.string(),
    resource_id: Id,
    game_id: Integer.meta({ description: '0 for people who were not met in a game' }),
    author_id: Integer,
    reports: Integer.meta({ description: 'How many there are' }),
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
  says: 'Lists what is reported in a game, a row per thing with its count. Open reports unless `status` is asked for; `type` 1 is the queue of DMCA, 2 of what does not work. For its team.',
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
  says: 'Lists what is reported anywhere, a row per thing with its count. Open reports unless `status` is asked for; `type` 1 is the queue of DMCA, 2 of what does not work. For those who run the site.',
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
  says: 'Lists the reports in a game, open ones unless `status` is asked for. For its team.',
  access: user('read', 'team'),
  params: GamePath,
  list: reportListing,
  returns: ok(pageOf(ReportObject)),
  errors: OF_GAME,
  handle: async (app, { caller, params, list }) => {
    const { rows, total } = await listReportsOfGame(app, caller, params.game_id, list);
    return page(rows, total, list);
  },
});

export const resolveGameReport = operation({
  id: 'resolve-game-report',
  tag: 'Moderation',
  method: 'POST',
  path: '/games/{game_id}/reports/{report_id}/resolve',
  says: 'Resolves one report. For the game’s team.',
  access: user('write', 'team'),
  params: GamePath.extend(ReportPath.shape),
  body: Resolution,
  emptyBody: true,
  returns: ok(ReportObject),
  errors: [...OF_GAME, 'REPORT_NOT_FOUND', 'REPORT_ALREADY_RESOLVED'],
  handle: (app, { caller, params, body }) => resolveInGame(app, caller, params.game_id, params.report_id, body.reason),
});

export const getReports = operation({
  id: 'get-reports',
  tag: 'Moderation',
  method: 'GET',
  path: '/reports',
  says: 'Lists the reports of the whole site, open ones unless `status` is asked for. For those who run it.',
  access: user('read', 'staff'),
  list: reportListing,
  returns: ok(pageOf(ReportObject)),
  errors: ['USER_CANT_VIEW_ADMIN_ONLY'],
  handle: async (app, { caller, list }) => {
    const { rows, total } = await listReports(app, caller, list);
    return page(rows, total, list);
  },
});

export const resolveReport = operation({
  id: 'resolve-report',
  tag: 'Moderation',
  method: 'POST',
  path: '/reports/{report_id}/resolve',
  says: 'Resolves one report. For those who run the site; a person who was met in a game is for its team.',
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
  handle: (app, { caller, params, body }) => resolveOnSite(app, caller, params.report_id, body.reason),
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
