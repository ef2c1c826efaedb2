import { z } from 'zod';
import { Id, Integer } from '../../platform/http/objects.ts';
import { COLLECTION_TAGS, categoryOf, tagNamed } from './categories.ts';

const MODS_PER_REQUEST_MAX = 10_000;

const fields = {
  name: z.string().trim().min(1).max(50),
  name_id: z
    .string()
    .regex(/^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$/u)
    .min(3)
    .max(50),
  summary: z.string().trim().max(250),
  description: z
    .string()
    .max(50_000)
    .meta({ description: 'Markup beyond simple formatting, links and images is removed.' }),
  category: z
    .string()
    .refine((text) => categoryOf(text) !== undefined, { params: { rule: 'invalid' } })
    .transform((text) => categoryOf(text)!)
    .meta({ description: '1 or `Essential`, 2 or `Miscellaneous`, 3 or `Themed`' }),
  visible: z.literal([0, 1]).meta({ description: '0 hidden, 1 public' }),
  tags: z
    .array(
      z
        .string()
        .transform(tagNamed)
        .pipe(z.union([z.enum(COLLECTION_TAGS), z.literal('')])),
    )
    .max(COLLECTION_TAGS.length + 1)
    .transform((tags) => [...new Set(tags)].filter((tag) => tag !== ''))
    .meta({ description: 'All tags of the collection. They replace earlier ones.' }),
  mod_ids: z.array(Id).max(MODS_PER_REQUEST_MAX),
};

const { name, ...others } = fields;

/** The fields of a new collection. Other fields of the request are ignored. */
export const NewCollectionBody = z.object({
  name,
  ...z.object(others).partial().shape,
  visible: fields.visible.optional().meta({
    description: '0 hidden, 1 public. Default: public if it is added with mods, hidden otherwise.',
  }),
  status: z.literal([0, 1]).optional().meta({ description: '0 waits for the game’s team to accept it, 1 accepted.' }),
});

export const CollectionChangesBody = z
  .object({
    ...fields,
    mod_ids: fields.mod_ids.meta({ description: 'Mods to add to the collection.' }),
    status: z.literal([0, 1]).meta({
      description:
        '0 not accepted, 1 accepted. Allowed for the game’s team; its administrators can restore a deleted collection.',
    }),
    limit_number_mods: Integer.min(0).max(MODS_PER_REQUEST_MAX).meta({
      description:
        'The maximum number of mods in this collection; 0 for the game’s limit. Allowed for the game’s administrators.',
    }),
  })
  .partial()
  .extend({
    sync: z
      .boolean()
      .default(false)
      .meta({ description: 'Remove all mods that `mod_ids` does not name, and put the others in its order.' }),
  });

/** Filters of the list, which the dialect documents as form fields. The list itself reads them. */
export const CollectionFilters = z
  .object({
    id: z.string(),
    status: z.string(),
    category: z.string().meta({ description: 'By number or name.' }),
    submitted_by: z.string(),
    submitted_by_display_name: z.string(),
    date_added: z.string(),
    date_updated: z.string(),
    date_live: z.string(),
    name: z.string(),
    name_id: z.string(),
    maturity_option: z.string(),
    tags: z.union([z.string(), z.array(z.string())]),
  })
  .partial()
  .extend({ mod_id: Id.optional().meta({ description: 'Only collections that show this mod.' }) });
