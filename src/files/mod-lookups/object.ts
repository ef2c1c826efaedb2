import { z } from 'zod';
import { expiryAt } from '../../catalogue/live-files/links.ts';
import { ModfileObject, modfileJson } from '../../catalogue/live-files/object.ts';
import { linkParts, withSignatures } from '../../catalogue/mods/page-addresses.ts';
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

const NOTHING = Buffer.from(',"platforms":[],"dependencies":[],"modfile":');
const [COMMA, NO_FILE, END] = [Buffer.from(','), Buffer.from('{}'), Buffer.from('}')];

/** The live files on platforms, and the dependencies. */
function betweenOf({ platforms, needs }: ModLookup, modId: number): Buffer {
  const [live, below] = [platforms.get(modId), needs.get(modId)];
  if (!live && !below) return NOTHING;
  const shown = (live ?? []).map(({ platform, id }) => `{"platform":${JSON.stringify(platform)},"modfile_live":${id}}`);
  return Buffer.from(`,"platforms":[${shown.join(',')}],"dependencies":[${(below ?? []).join(',')}],"modfile":`);
}

/** Mods are parts of bytes, because most of them are kept and needed again and again. */
export function modLookupJson(app: App, gameId: number, lookup: ModLookup): Buffer {
  const expires = expiryAt(app.clock.now());
  const { before, behind } = linkParts(app, gameId, expires);
  const [beforeLink, behindLink] = [Buffer.from(before), Buffer.from(behind)];
  const parts: Buffer[] = [];
  const add = (mods: readonly FoundMod[]) => {
    for (const [place, { id, head, file }] of mods.entries()) {
      if (place > 0) parts.push(COMMA);
      parts.push(head, betweenOf(lookup, id));
      if (file) parts.push(file.body, beforeLink, file.link, behindLink, END);
      else parts.push(NO_FILE, END);
    }
  };
  parts.push(Buffer.from('{"mods":['));
  add(lookup.mods);
  parts.push(Buffer.from('],"dependencies":['));
  add(lookup.dependencies);
  const files = lookup.files.map((file) => modfileJson(app, file, { alone: false }));
  parts.push(
    Buffer.from(
      `],"files":[${files.join(',')}],"not_found":${JSON.stringify(lookup.missing)},"truncated":${lookup.truncated}}`,
    ),
  );
  return withSignatures(app, Buffer.concat(parts), expires);
}
