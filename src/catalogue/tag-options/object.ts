import { z } from 'zod';
import { Integer } from '../../platform/http/objects.ts';
import { type Language, pick } from '../../platform/localisation/languages.ts';
import type { FieldTranslations } from '../../platform/text/translations.ts';
import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';
import { groupField, type TagGroup, tagField } from './tag-options.ts';

export const TAGS_MAX = 500;

/** Clients send `tags[]=` to clear the list. */
export const TagNames = z
  .array(z.string().trim().max(50))
  .max(TAGS_MAX)
  .transform((names) => names.filter((name) => name !== ''));

/** Clients write platforms in any case, and send one empty name for an empty list. */
export const PlatformNames = z
  .array(z.union([z.string().trim().toLowerCase().pipe(z.enum(PLATFORMS)), z.literal('')]))
  .max(PLATFORMS.length)
  .transform((names) => [...new Set(names.filter((name) => name !== ''))]);

const TagCounts = z.record(z.string(), Integer);

export const GameTagOptionLocalizedObject = z
  .object({
    name: z.string(),
    name_localized: z.string(),
    type: z.enum(['checkboxes', 'dropdown']),
    tags: z.array(z.string()),
    tags_localized: z.record(z.string(), z.string()),
    tag_count_map: TagCounts,
    hidden: z.boolean(),
    locked: z.boolean(),
    platforms: z
      .array(z.string())
      .meta({ description: 'On which players may filter by these tags; empty for all platforms.' }),
  })
  .meta({ id: 'GameTagOptionLocalized' });

export const GameTagOptionObject = z
  .object({
    name: z.string(),
    name_localization: z.record(z.string(), z.string()),
    type: z.enum(['checkboxes', 'dropdown']),
    tags: z.array(z.string()),
    tags_localization: z.array(z.object({ tag: z.string(), translations: z.record(z.string(), z.string()) })),
    tag_count_map: TagCounts,
    hidden: z.boolean(),
    locked: z.boolean(),
    platforms: z
      .array(z.string())
      .meta({ description: 'On which players may filter by these tags; empty for all platforms.' }),
  })
  .meta({ id: 'GameTagOption' });

export function toTagOptionLocalized(
  group: TagGroup,
  translations: FieldTranslations,
  language: Language,
): z.input<typeof GameTagOptionLocalizedObject> {
  return {
    name: group.name,
    name_localized: pick(translations[groupField(group.id)], group.name, language),
    type: group.type as 'checkboxes' | 'dropdown',
    tags: group.tags.map((tag) => tag.name),
    tags_localized: Object.fromEntries(
      group.tags.map((tag) => [tag.name, pick(translations[tagField(tag.id)], tag.name, language)]),
    ),
    tag_count_map: countsOf(group),
    hidden: group.hidden === 1,
    locked: group.locked === 1,
    platforms: group.platforms === '' ? [] : group.platforms.split(','),
  };
}

export function toTagOption(group: TagGroup, translations: FieldTranslations): z.input<typeof GameTagOptionObject> {
  return {
    name: group.name,
    name_localization: { en: group.name, ...translations[groupField(group.id)] },
    type: group.type as 'checkboxes' | 'dropdown',
    tags: group.tags.map((tag) => tag.name),
    tags_localization: group.tags.map((tag) => ({
      tag: tag.name,
      translations: { en: tag.name, ...translations[tagField(tag.id)] },
    })),
    tag_count_map: countsOf(group),
    hidden: group.hidden === 1,
    locked: group.locked === 1,
    platforms: group.platforms === '' ? [] : group.platforms.split(','),
  };
}

const countsOf = (group: TagGroup) => Object.fromEntries(group.tags.map((tag) => [tag.name, tag.mods_count]));
