import { z } from 'zod';
import { UserObject, userJson } from '../../people/users/object.ts';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import { type Language, pick } from '../../platform/localisation/languages.ts';
import { plainText } from '../../platform/text/markup.ts';
import type { FieldTranslations } from '../../platform/text/translations.ts';
import type { Portal } from '../../platform/vocabulary/game-platforms.ts';
import { LogoObject, toLogo } from '../games/object.ts';
import { hashIn } from '../live-files/links.ts';
import { ModfileObject, modfileJson } from '../live-files/object.ts';
import type { StoredMod } from './document-store.ts';
import { DISPLAY_TEXTS, type DisplayText } from './rating-scores.ts';
import type { ModRow, ModStats } from './store.ts';

const ImageObject = z
  .object({ filename: z.string(), original: z.string(), thumb_320x180: z.string(), thumb_1280x720: z.string() })
  .meta({ id: 'Image' });
const ModMediaObject = z
  .object({ youtube: z.array(z.string()), sketchfab: z.array(z.string()), images: z.array(ImageObject) })
  .meta({ id: 'ModMedia' });
const ModPlatformsObject = z.object({ platform: z.string(), modfile_live: Id }).meta({ id: 'ModPlatforms' });
export const MetadataKvpObject = z.object({ metakey: z.string(), metavalue: z.string() }).meta({ id: 'MetadataKvp' });
export const ModTagObject = z
  .object({ name: z.string(), name_localized: z.string(), date_added: Timestamp })
  .meta({ id: 'ModTag' });
const ModSkuObject = z.object({ id: Id, sku: z.string(), portal: z.string() }).meta({ id: 'ModSku' });

export const ModStatsObject = z
  .object({
    mod_id: Id,
    popularity_rank_position: Integer,
    popularity_rank_total_mods: Integer,
    downloads_today: Integer,
    downloads_total: Integer,
    subscribers_total: Integer,
    ratings_total: Integer,
    ratings_positive: Integer,
    ratings_negative: Integer,
    ratings_percentage_positive: Integer,
    ratings_weighted_aggregate: z.number(),
    ratings_display_text: z.enum(DISPLAY_TEXTS),
    date_expires: Timestamp,
  })
  .meta({ id: 'ModStats' });

/** For the requested platform, where the game has platforms. */
const LiveFileObject = z
  .union([ModfileObject, z.strictObject({})])
  .meta({ description: 'The live file, or `{}` if there is none.' });

export const ModObject = z
  .object({
    id: Id,
    game_id: Id,
    status: Integer,
    visible: Integer,
    submitted_by: UserObject,
    date_added: Timestamp,
    date_updated: Timestamp,
    date_live: Timestamp,
    maturity_option: Integer,
    community_options: Integer,
    monetization_options: Integer,
    credit_options: Integer,
    stock: Integer,
    price: Integer,
    tax: Integer,
    logo: LogoObject,
    homepage_url: z.string().nullable(),
    name: z.string(),
    name_id: z.string(),
    summary: z.string(),
    description: z.string(),
    description_plaintext: z.string(),
    metadata_blob: z.string(),
    profile_url: z.string(),
    media: ModMediaObject,
    modfile: LiveFileObject,
    dependencies: z.boolean(),
    platforms: z.array(ModPlatformsObject),
    metadata_kvp: z.array(MetadataKvpObject),
    tags: z.array(ModTagObject),
    stats: ModStatsObject,
    skus: z.array(ModSkuObject),
  })
  .meta({ id: 'Mod' });

/** The fields of the mod object that change only with the mod itself. */
export type ModBody = Omit<
  z.input<typeof ModObject>,
  'profile_url' | 'submitted_by' | 'stats' | 'dependencies' | 'modfile'
>;

/** The fields that other resources contribute through `ModExtension`. */
export type ContributedFields = Pick<ModBody, 'media' | 'platforms' | 'metadata_kvp' | 'tags' | 'skus'>;

export function toModBody(
  app: App,
  mod: ModRow,
  contributed: ContributedFields,
  translations: FieldTranslations,
  language: Language,
): ModBody {
  const text = (field: 'name' | 'summary' | 'description') => pick(translations[field], mod[field], language);
  const description = text('description');
  return {
    id: mod.id,
    game_id: mod.game_id,
    status: mod.status,
    visible: mod.visible,
    date_added: mod.date_added,
    date_updated: mod.date_updated,
    date_live: mod.date_live,
    maturity_option: mod.maturity_option,
    community_options: mod.community_options,
    monetization_options: mod.monetization_options,
    credit_options: mod.credit_options,
    stock: mod.stock,
    price: mod.price,
    tax: mod.tax,
    logo: toLogo(app, mod.logo),
    homepage_url: mod.homepage_url,
    name: text('name'),
    name_id: mod.name_id,
    summary: text('summary'),
    description,
    description_plaintext: plainText(description),
    metadata_blob: mod.metadata_blob ?? '',
    ...contributed,
  };
}

export function toModStats(modId: number, stats: Omit<ModStats, 'mod_id'>): z.input<typeof ModStatsObject> {
  return {
    mod_id: modId,
    popularity_rank_position: stats.popularity_rank_position,
    popularity_rank_total_mods: stats.popularity_rank_total_mods,
    downloads_today: stats.downloads_today,
    downloads_total: stats.downloads_total,
    subscribers_total: stats.subscribers_total,
    ratings_total: stats.ratings_total,
    ratings_positive: stats.ratings_positive,
    ratings_negative: stats.ratings_negative,
    ratings_percentage_positive: stats.ratings_percentage_positive,
    ratings_weighted_aggregate: stats.ratings_weighted_aggregate,
    ratings_display_text: stats.ratings_display_text as DisplayText,
    date_expires: stats.date_expires,
  };
}

/** The stored body and the fields that change independently of it. Lists of mods in other resources use it too. */
export function modJson(
  app: App,
  mod: StoredMod,
  { alone = false, portal }: { alone?: boolean; portal: Portal | undefined },
): string {
  const address = JSON.stringify(app.addresses.mod(mod.game_name_id, mod.mod_name_id));
  const stats = JSON.stringify(toModStats(mod.mod_id, mod));
  const needs = `"dependencies":${mod.has_dependencies === 1}`;
  return `${mod.body},"modfile":${liveFileJson(app, mod.mod_id, mod, { alone })},${needs},"profile_url":${address},"submitted_by":${userJson(app, mod, portal)},"stats":${stats}}`;
}

type LiveFile = Pick<StoredMod, 'game_id' | 'file_id' | 'file_link' | 'file_body'>;

function liveFileJson(app: App, modId: number, mod: LiveFile, { alone }: { alone: boolean }): string {
  const { game_id, file_id: id, file_link: link, file_body: body } = mod;
  if (id === null || link === null || body === null) return '{}';
  return modfileJson(app, { id, mod_id: modId, game_id, sha256: hashIn(link), body }, { alone });
}
