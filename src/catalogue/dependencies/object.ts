import { z } from 'zod';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import { LogoObject } from '../games/object.ts';
import type { StoredMod } from '../mods/mods.ts';
import { ModObject, modJson } from '../mods/object.ts';
import type { Listed } from './dependencies.ts';

/** The identifiers of a mod, which every caller gets in any state. */
export const ModDependantObject = z
  .object({
    mod_id: Id,
    name: z.string(),
    name_id: z.string(),
    status: Integer,
    visible: Integer,
    date_added: Timestamp,
    date_updated: Timestamp,
    logo: LogoObject,
  })
  .meta({ id: 'ModDependants' });

export const ModDependencyObject = ModObject.partial()
  .extend({
    ...ModDependantObject.shape,
    id: Id,
    game_id: Id,
    modfile: z.record(z.string(), z.unknown()),
    dependency_depth: Integer.meta({ description: '1 for direct dependencies, up to 5.' }),
  })
  .meta({
    id: 'ModDependencies',
    description: 'The mod; only its identifiers if the caller may not see it.',
  });

export function toModDependant(app: App, mod: StoredMod): z.input<typeof ModDependantObject> {
  const { name, name_id, status, visible, date_added, date_updated, logo } = JSON.parse(
    modJson(app, mod, { portal: undefined }),
  );
  return { mod_id: mod.mod_id, name, name_id, status, visible, date_added, date_updated, logo };
}

export function dependencyJson(app: App, { mod, depth, whole }: Listed, portal: Portal | undefined): string {
  if (whole) return `${modJson(app, mod, { portal }).slice(0, -1)},"mod_id":${mod.mod_id},"dependency_depth":${depth}}`;
  const { mod_id, game_id } = mod;
  return JSON.stringify({ ...toModDependant(app, mod), id: mod_id, game_id, modfile: {}, dependency_depth: depth });
}
