import { z } from 'zod';
import { endOfModfile, ModfileObject, modfileJson } from '../../catalogue/live-files/object.ts';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { ModLookup } from './mod-lookups.ts';
import type { FoundMod } from './store.ts';

const FoundModObject = z
  .object({
    id: Id,
    name_id: z.string(),
    name: z.string(),
    status: Integer,
    visible: Integer,
    date_updated: Timestamp,
    platforms: z
      .array(z.object({ platform: z.string(), modfile_live: Id }).meta({ id: 'ModPlatforms' }))
      .meta({ description: 'The live file on each platform, where the game has platforms; `files` contains it.' }),
    dependencies: z.array(Id).meta({ description: 'The ids of the mods that it directly depends on.' }),
    modfile: z
      .union([ModfileObject, z.strictObject({})])
      .meta({ description: 'The live file on the requested platform, or `{}` if there is none.' }),
  })
  .meta({ id: 'ModLookupMod' });

const NotFoundObject = z
  .object({
    ids: z.array(Integer),
    name_ids: z.array(z.string()),
    md5: z.array(z.string()),
    sha256: z.array(z.string()),
    dependencies: z.array(Id).meta({ description: 'Mods that others depend on and that the caller may not see.' }),
  })
  .meta({ id: 'ModLookupMissing' });

export const ModLookupObject = z
  .object({
    mods: z.array(FoundModObject).meta({ description: 'The mods that the request names, each once, by id.' }),
    dependencies: z
      .array(FoundModObject)
      .meta({ description: 'Further mods that those depend on, directly or indirectly, each once, by id.' }),
    files: z.array(ModfileObject).meta({
      description: 'The files with a requested digest, and live files on other platforms than the requested one.',
    }),
    not_found: NotFoundObject,
    truncated: z.boolean().meta({
      description: 'There are more dependencies. Look up the ids in `dependencies` that the answer lacks.',
    }),
  })
  .meta({ id: 'ModLookup' });

const list = (items: readonly string[]) => `[${items.join(',')}]`;

function modJson(app: App, mod: FoundMod, { platforms, needs }: ModLookup): string {
  const live = (platforms.get(mod.id) ?? []).map(
    ({ platform, id }) => `{"platform":${JSON.stringify(platform)},"modfile_live":${id}}`,
  );
  return `${mod.head},"platforms":${list(live)},"dependencies":[${(needs.get(mod.id) ?? []).join(',')}],"modfile":${liveFileJson(app, mod)}}`;
}

function liveFileJson(app: App, { id: mod_id, game_id, file_id, file_sha256, file_body }: FoundMod): string {
  if (file_id === null || file_sha256 === null || file_body === null) return '{}';
  return `${file_body}${endOfModfile(app, { id: file_id, mod_id, game_id, sha256: file_sha256 }, { alone: false })}`;
}

export function modLookupJson(app: App, lookup: ModLookup): string {
  const mods = (found: readonly FoundMod[]) => list(found.map((mod) => modJson(app, mod, lookup)));
  const files = lookup.files.map((file) => modfileJson(app, file, { alone: false }));
  return `{"mods":${mods(lookup.mods)},"dependencies":${mods(lookup.dependencies)},"files":${list(files)},"not_found":${JSON.stringify(lookup.missing)},"truncated":${lookup.truncated}}`;
}
