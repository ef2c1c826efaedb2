import { z } from 'zod';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { BuildRow } from '../builds/builds.ts';
import type { ShownCook } from '../cooks/cooks.ts';
import { ModfileCookObject, toModfileCook } from '../cooks/object.ts';
import type { ModfileRow } from '../modfiles/modfiles.ts';
import type { RunnerRow, WithSecret } from './runners.ts';

export const CookRunnerObject = z
  .object({
    id: Id,
    game_id: Id,
    name: z.string(),
    platforms: z.array(z.string()),
    added_by: Id,
    date_added: Timestamp,
    date_seen: Timestamp.meta({ description: 'When it last sent a request, to the minute. Unix seconds' }),
  })
  .meta({ id: 'CookRunner' });

export const toCookRunner = (row: RunnerRow): z.input<typeof CookRunnerObject> => ({
  id: row.id,
  game_id: row.game_id,
  name: row.name,
  platforms: row.platforms.split(' '),
  added_by: row.added_by,
  date_added: row.date_added,
  date_seen: row.date_seen,
});

export const CookRunnerSecretObject = CookRunnerObject.extend({
  secret: z.string().meta({ description: 'It is shown only once.' }),
}).meta({ id: 'CookRunnerSecret' });

export const toCookRunnerSecret = ({ runner, secret }: WithSecret) => ({ ...toCookRunner(runner), secret });

const Archive = z.object({
  filename: z.string(),
  filesize: Integer,
  filehash: z.object({ md5: z.string(), sha256: z.string() }),
  binary_url: z.string().meta({ description: 'Needs the same credentials.' }),
});

export const CookClaimObject = z
  .object({
    claim_id: z.string(),
    game_id: Id,
    mod_id: Id,
    date_lease: Timestamp.meta({ description: 'When the runner has to report next. Unix seconds' }),
    lease_seconds: Integer.meta({ description: 'The same, relative to the response, for runners with a wrong clock.' }),
    cook: ModfileCookObject,
    source: Archive.extend({ id: Id, version: z.string(), metadata_blob: z.string() }),
    build: Archive.nullable().meta({ description: 'The build that the studio uploaded, if there is one.' }),
  })
  .meta({ id: 'CookClaim' });

export const NextCookObject = z
  .object({ claim: CookClaimObject.nullable().meta({ description: 'Null if nothing waits to be cooked.' }) })
  .meta({ id: 'NextCook' });

/** Everything that a runner needs to start. */
export interface Given {
  readonly cook: ShownCook;
  readonly source: ModfileRow;
  readonly build: BuildRow | undefined;
}

export function toCookClaim(app: App, { cook, source, build }: Given): z.input<typeof CookClaimObject> {
  const address = `${app.addresses.api}/cook-runner/claims/${cook.claim}`;
  return {
    claim_id: cook.claim!,
    game_id: cook.game_id,
    mod_id: cook.mod_id,
    date_lease: cook.date_lease,
    lease_seconds: cook.date_lease - app.clock.now(),
    cook: toModfileCook({ cook, logs: [] }),
    source: {
      id: source.id,
      filename: source.filename,
      filesize: source.filesize,
      filehash: { md5: source.md5, sha256: source.sha256 },
      version: source.version ?? '',
      metadata_blob: source.metadata_blob ?? '',
      binary_url: `${address}/source`,
    },
    build: build
      ? {
          filename: build.filename,
          filesize: build.total,
          filehash: { md5: build.md5, sha256: build.sha256 },
          binary_url: `${address}/build`,
        }
      : null,
  };
}

export const CookReportTakenObject = z
  .object({
    date_lease: Timestamp.meta({ description: 'When the runner has to report next. Unix seconds' }),
    lease_seconds: Integer,
    cook: ModfileCookObject,
  })
  .meta({ id: 'CookReportTaken' });

export const toCookReportTaken = (app: App, cook: ShownCook): z.input<typeof CookReportTakenObject> => ({
  date_lease: cook.date_lease,
  lease_seconds: Math.max(0, cook.date_lease - app.clock.now()),
  cook: toModfileCook({ cook, logs: [] }),
});
