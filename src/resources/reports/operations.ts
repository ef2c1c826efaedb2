import { z } from 'zod';
import { readerWhoWrites } from '../../access/caller.ts';
import { MessageObject } from '../../http/objects.ts';
import { Created, created, operation } from '../../http/operation.ts';
import { say } from '../../localisation/texts.ts';
import { REASONS_MAX, submitReport } from './reports.ts';
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
  access: readerWhoWrites(),
  limit: 10,
  body: NewReport,
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
    await submitReport(app, caller, { ...report, gameNameId });
    return new Created({ code: 201, message: say('report_submitted', language) }, app.addresses.api);
  },
});

export const reportOperations = [submitReportOperation];
