import { z } from 'zod';
import { UserObject } from '../../people/users/object.ts';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import { type Language, pick } from '../../platform/localisation/languages.ts';
import type { FieldTranslations } from '../../platform/text/translations.ts';
import { GameTagOptionLocalizedObject } from '../tag-options/object.ts';
import type { StatsRow } from './stats-store.ts';
import type { GameRow } from './store.ts';
import type { GamePlatformsTable } from './table.ts';

const Url = z.string().nullable();

const IconObject = z
  .object({ filename: z.string(), original: Url, thumb_64x64: Url, thumb_128x128: Url, thumb_256x256: Url })
  .meta({ id: 'Icon' });
export const LogoObject = z
  .object({ filename: z.string(), original: Url, thumb_320x180: Url, thumb_640x360: Url, thumb_1280x720: Url })
  .meta({ id: 'Logo' });
const HeaderImageObject = z.object({ filename: z.string(), original: Url }).meta({ id: 'HeaderImage' });

export const GameStatsObject = z
  .object({
    game_id: Id,
    mods_count_total: Integer,
    mods_downloads_today: Integer,
    mods_downloads_total: Integer,
    mods_downloads_daily_average: Integer,
    mods_subscribers_total: Integer,
    date_expires: Timestamp,
  })
  .meta({ id: 'GameStats' });

const GameThemeObject = z
  .object({
    primary: z.string(),
    dark: z.string(),
    light: z.string(),
    success: z.string(),
    warning: z.string(),
    danger: z.string(),
  })
  .meta({ id: 'GameTheme' });

const GamePlatformsObject = z
  .object({ platform: z.string(), label: z.string(), moderated: z.boolean(), locked: z.boolean() })
  .meta({ id: 'GamePlatforms' });

const GameOtherUrlObject = z.object({ label: z.string(), url: z.string() }).meta({ id: 'GameOtherurls' });

export const GameObject = z
  .object({
    id: Id,
    status: Integer,
    submitted_by: UserObject,
    date_added: Timestamp,
    date_updated: Timestamp,
    date_live: Timestamp,
    presentation_option: Integer,
    submission_option: Integer,
    dependency_option: Integer,
    curation_option: Integer,
    profanity_option: Integer,
    community_options: Integer,
    monetization_options: Integer,
    revenue_options: Integer,
    limit_collection_mods: Integer,
    cloud_cooking_status: Integer,
    monetization_teams: z.array(z.object({ team_id: Id })),
    max_stock: Integer,
    api_access_options: Integer,
    maturity_options: Integer,
    ugc_name: z.string(),
    token_name: z.string(),
    icon: IconObject,
    logo: LogoObject,
    header: HeaderImageObject,
    name: z.string(),
    name_id: z.string(),
    summary: z.string(),
    instructions: z.string().nullable(),
    instructions_url: Url,
    profile_url: z.string(),
    other_urls: z.array(GameOtherUrlObject),
    tag_options: z.array(GameTagOptionLocalizedObject),
    stats: GameStatsObject,
    theme: GameThemeObject,
    platforms: z.array(GamePlatformsObject),
    service_features: Integer,
  })
  .meta({ id: 'Game' });

/** The response to the submitter of a game. */
export const NewGameObject = GameObject.extend({
  api_key: z.string().meta({ description: 'The API key of the game. It is not shown again.' }),
}).meta({ id: 'NewGame' });

type Game = z.input<typeof GameObject>;

/** The fields of the game object that change only with the game itself. */
export function toGameBody(
  app: App,
  game: GameRow,
  platforms: readonly GamePlatformsTable[],
  translations: FieldTranslations,
  language: Language,
): Omit<Game, 'tag_options' | 'stats' | 'submitted_by'> {
  const text = (field: string, english: string) => pick(translations[field], english, language);
  return {
    id: game.id,
    status: game.status,
    date_added: game.date_added,
    date_updated: game.date_updated,
    date_live: game.date_live,
    presentation_option: game.presentation_option,
    submission_option: game.submission_option,
    dependency_option: game.dependency_option,
    curation_option: game.curation_option,
    profanity_option: game.profanity_option,
    community_options: game.community_options,
    monetization_options: game.monetization_options,
    revenue_options: game.revenue_options,
    limit_collection_mods: game.limit_collection_mods,
    cloud_cooking_status: game.cloud_cooking_status,
    // A game that sells has one team, with the id of the game.
    monetization_teams: (game.monetization_options & 1) === 0 ? [] : [{ team_id: game.id }],
    max_stock: game.max_stock,
    api_access_options: game.api_access_options,
    maturity_options: game.maturity_options,
    ugc_name: text('ugc_name', game.ugc_name),
    token_name: game.token_name,
    icon: toIcon(app, game.icon),
    logo: toLogo(app, game.logo),
    header: toHeader(app, game.header),
    name: text('name', game.name),
    name_id: game.name_id,
    summary: text('summary', game.summary),
    instructions: game.instructions === null ? null : text('instructions', game.instructions),
    instructions_url: game.instructions_url,
    profile_url: app.addresses.game(game.name_id),
    other_urls: JSON.parse(game.other_urls),
    theme: JSON.parse(game.theme),
    platforms: platforms.map(({ platform, label, moderated, locked }) => ({
      platform,
      label,
      moderated: moderated === 1,
      locked: locked === 1,
    })),
    service_features: game.service_features,
  };
}

function toIcon(app: App, folder: string | null): Game['icon'] {
  const at = (name: string) => app.addresses.file(`${folder ?? 'placeholder/icon'}/${name}.png`);
  return {
    filename: 'icon.png',
    original: at('original'),
    thumb_64x64: at('thumb_64x64'),
    thumb_128x128: at('thumb_128x128'),
    thumb_256x256: at('thumb_256x256'),
  };
}

export function toLogo(app: App, folder: string | null): Game['logo'] {
  const at = (name: string) => app.addresses.file(`${folder ?? 'placeholder/logo'}/${name}.png`);
  return {
    filename: 'logo.png',
    original: at('original'),
    thumb_320x180: at('thumb_320x180'),
    thumb_640x360: at('thumb_640x360'),
    thumb_1280x720: at('thumb_1280x720'),
  };
}

function toHeader(app: App, folder: string | null): Game['header'] {
  return { filename: 'header.png', original: app.addresses.file(`${folder ?? 'placeholder/header'}/original.png`) };
}

export function toGameStats(gameId: number, stats: Omit<StatsRow, 'game_id'>): z.input<typeof GameStatsObject> {
  return {
    game_id: gameId,
    mods_count_total: stats.mods_count_total,
    mods_downloads_today: stats.mods_downloads_today,
    mods_downloads_total: stats.mods_downloads_total,
    mods_downloads_daily_average: stats.mods_downloads_daily_average,
    mods_subscribers_total: stats.mods_subscribers_total,
    date_expires: stats.date_expires,
  };
}
