import { z } from 'zod';
import { ALLOW_COMMENTS, type GuideChanges } from './guides.ts';

const NAME_ID = /^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$/u;
const TAGS_MAX = 20;

const NameId = z.string().regex(NAME_ID).min(3).max(80);

/** Clients send `tags[]=` to clear the list. */
const Tags = z
  .array(z.string().trim().max(50))
  .max(TAGS_MAX)
  .transform((names) => names.filter((name) => name !== ''))
  .meta({
    description: 'All tags of the guide. They can be any words, except those that the game has reserved for its team.',
  });

const required = {
  name: z.string().trim().min(1).max(70),
  summary: z.string().trim().min(20).max(250),
  description: z
    .string()
    .min(1)
    .max(150_000)
    .meta({ description: 'Markup beyond simple formatting, links and images is removed.' }),
  tags: Tags,
};

const optional = {
  name_id: NameId.optional(),
  date_live: z.int().min(0).max(4_102_444_800).optional().meta({
    description:
      'When an accepted guide goes live, in Unix seconds. Until then only its author and the game’s team see it.',
  }),
  community_options: z.literal([0, ALLOW_COMMENTS]).optional().meta({ description: '0 no comments, 2048 comments' }),
};

/** The fields of a new guide. Other fields of the request are ignored. */
export const NewGuideBody = z.object({
  ...required,
  ...optional,
  status: z.literal([0, 1]).optional().meta({ description: '0 draft, 1 accepted (default)' }),
});

export const GuideChangesBody = z.object({
  ...z.object(required).partial().shape,
  ...optional,
  status: z.literal([0, 1, 3]).optional().meta({ description: '0 not accepted, 1 accepted, 3 deleted' }),
  url: z
    .string()
    .max(500)
    .transform((address) => address.split('/').at(-1))
    .pipe(NameId)
    .optional()
    .meta({ description: 'Like `name_id`; of a URL the last segment is used.' }),
});

/** `url` and `name_id` are two names of one field. */
export const toGuideChanges = ({ url, ...changes }: z.output<typeof GuideChangesBody>): GuideChanges => ({
  ...changes,
  name_id: changes.name_id ?? url,
});
