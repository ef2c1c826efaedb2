import { z } from 'zod';
import { readerByPost } from '../../platform/access/caller.ts';
import { GamePath, Id } from '../../platform/http/objects.ts';
import { Json, ok, operation } from '../../platform/http/operation.ts';
import { LOOKUP_MAX, lookUpMods } from './mod-lookups.ts';
import { ModLookupObject, modLookupJson } from './object.ts';

const digest = (length: number) =>
  z
    .array(
      z
        .string()
        .trim()
        .toLowerCase()
        .regex(new RegExp(`^[0-9a-f]{${length}}$`)),
    )
    .max(LOOKUP_MAX)
    .default([]);

const LookupBody = z
  .object({
    ids: z.array(Id).max(LOOKUP_MAX).default([]),
    name_ids: z.array(z.string().trim().min(1).max(100)).max(LOOKUP_MAX).default([]),
    md5: digest(32).meta({ description: 'MD5 digests of files, in hexadecimal.' }),
    sha256: digest(64).meta({ description: 'SHA-256 digests of files, in hexadecimal.' }),
  })
  .superRefine((body, context) => {
    const names = ['ids', 'name_ids', 'md5', 'sha256'] as const;
    const total = names.reduce((sum, name) => sum + body[name].length, 0);
    if (total > 0 && total <= LOOKUP_MAX) return;
    const rule = total === 0 ? { rule: 'required' } : { rule: 'array_max', values: { max: LOOKUP_MAX } };
    for (const name of names)
      if (total === 0 || body[name].length > 0) context.addIssue({ code: 'custom', path: [name], params: rule });
  });

export const lookupMods = operation({
  id: 'lookup-mods',
  tag: 'Mods',
  method: 'POST',
  path: '/games/{game_id}/mods/lookup',
  says: 'Looks up to 500 mods and files of a game by ids, name ids and digests in one request, for launchers and servers: the mods with their live files per platform, all mods that they depend on, and the names that were not found. A read, although it is sent as `POST`: it accepts JSON and needs no token.',
  access: readerByPost(),
  unlocked: 'nothing is written',
  params: GamePath,
  body: LookupBody,
  json: true,
  returns: ok(ModLookupObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED'],
  handle: async (app, { caller, params, body, language, platform }) =>
    new Json(
      modLookupJson(app, params.game_id, await lookUpMods(app, caller, params.game_id, body, { language, platform })),
    ),
});

export const modLookupOperations = [lookupMods];
