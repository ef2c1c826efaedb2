import { z } from 'zod';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { CookWithLogs, ShownCook } from './cooks.ts';

export const ModfileCookObject = z
  .object({
    cook_uuid: z.string(),
    modfile: Id.meta({ description: 'The id of the source.' }),
    platform: z.string(),
    status: Integer.meta({ description: '0 waiting, 1 cooking, 2 succeeded, 3 failed, 4 cancelled' }),
    date_added: Timestamp,
    date_updated: Timestamp,
    metadata: z.array(z.string()).meta({
      description:
        'Details as `name:value`: `attempt`, `progress` in percent, `runner`, `result` (the id of the cooked file), `error`; then the runner’s own details.',
    }),
    logs: z.array(z.string()).meta({ description: 'Lists contain only the last 20 lines.' }),
    filename: z.string().meta({ description: 'The filename of the source, like filesize and version.' }),
    filesize: Integer,
    version: z.string(),
  })
  .meta({ id: 'ModfileCook' });

export const toModfileCook = ({ cook, logs }: CookWithLogs): z.input<typeof ModfileCookObject> => ({
  cook_uuid: cook.cook_uuid,
  modfile: cook.source_id,
  platform: cook.platform,
  status: cook.status,
  date_added: cook.date_added,
  date_updated: cook.date_updated,
  metadata: metadataOf(cook),
  logs: [...logs],
  filename: cook.filename,
  filesize: cook.filesize,
  version: cook.version ?? '',
});

function metadataOf(cook: ShownCook): string[] {
  const known = {
    attempt: cook.attempts,
    progress: cook.progress,
    runner: cook.runner_id,
    result: cook.result_id,
    error: cook.error,
  };
  const details = Object.entries(known).filter(([, value]) => value);
  return [...details.map(([name, value]) => `${name}:${value}`), ...(JSON.parse(cook.metadata) as string[])];
}

const LINE_CHARACTERS_MAX = 2_000;
const LINES_AT_ONCE = 500;

/** Lines of a program’s output: truncated instead of refused, without terminal control characters. */
export const LogLines = z
  .array(z.string().transform((line) => line.replace(/[^\P{Cc}\t]/gu, '').slice(0, LINE_CHARACTERS_MAX)))
  .max(LINES_AT_ONCE)
  .meta({ description: 'Lines to append to the log. The last 2,000 are stored.' });

export const Metadata = z
  .array(z.string().max(255))
  .max(50)
  .meta({ description: 'The runner’s details about the cook, such as `engine:5.4`. They replace earlier ones.' });
