import { z } from 'zod';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { requireGame } from '../games/games.ts';
import { TagNames } from '../tag-options/object.ts';
import type { SentFields } from './editing.ts';
import { MetadataPair, PAIRS_MAX } from './metadata-pairs.ts';

const Bits = (max: number) => z.int().min(0).max(max);
const Option = (...values: number[]) => z.literal(values);
const localised = { description: 'Localisable: with Content-Language it is stored as a translation.' };

const isWebAddress = (text: string) => z.url({ protocol: /^https?$/ }).safeParse(text).success;
const HomePage = z
  .string()
  .max(500)
  .refine((text) => text === '' || isWebAddress(text), { params: { rule: 'url' } });

const SUMMARY_LENGTH_MAX = 200;
const Summary = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .meta({ description: `${localised.description} A game may allow more than ${SUMMARY_LENGTH_MAX} characters.` });

const fields = {
  name: z.string().trim().min(1).max(50).meta(localised),
  summary: Summary(SUMMARY_LENGTH_MAX),
  name_id: z
    .string()
    .regex(/^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$/u)
    .min(3)
    .max(80),
  description: z
    .string()
    .max(50_000)
    .meta({ description: 'Localisable. Markup beyond simple formatting, links and images is removed.' }),
  homepage_url: HomePage.meta({ description: 'Empty for none.' }),
  homepage: HomePage.meta({ description: 'The older name of `homepage_url`.' }),
  visible: Option(0, 1).meta({ description: '0 hidden, 1 public' }),
  maturity_option: Bits(15).meta({ description: 'Bits: 1 alcohol, 2 drugs, 4 violence, 8 explicit' }),
  community_options: Bits(262_143).meta({
    description: 'Bits: 1 comments, 64 previews, 128 preview address, 1024 dependencies, 131072 use in collections',
  }),
  credit_options: Bits(2_047),
  stock: z.int().min(0).max(1_000_000_000),
  tokenpack_id: z
    .int()
    .min(0)
    .meta({ description: 'A token pack of the game: the mod costs as many tokens as it has.' }),
  metadata_blob: z.string().max(50_000),
  metadata_kvp: z
    .array(z.union([MetadataPair, z.literal('')]))
    .max(PAIRS_MAX)
    .transform((pairs) => pairs.filter((pair) => pair !== ''))
    .meta({ description: 'All metadata of the mod, as `key:value`.' }),
  tags: TagNames.meta({ description: 'All tags of the mod.' }),
};

const offer = {
  price: z.int().min(0).max(1_000_000_000).meta({ description: 'In tokens; 0 for a mod that is free.' }),
  monetization_options: Bits(15).meta({
    description: 'Bits: 1 monetization, 2 marketplace, 8 limited stock. A mod is sold with 1 and 2.',
  }),
};

const { name, summary, ...others } = fields;

/** The fields of a new mod. A request cannot set anything that is not listed here. */
export const NewModBody = z.object({ name, summary, ...z.object(others).partial().shape });

export const ModChangesBody = z
  .object({
    status: Option(0, 1, 3).meta({ description: '0 not accepted, 1 accepted, 3 deleted' }),
    ...fields,
    ...offer,
  })
  .partial();

interface ModBodies {
  readonly added: typeof NewModBody;
  readonly changed: typeof ModChangesBody;
}

const bodies = new Map<number, ModBodies>([[SUMMARY_LENGTH_MAX, { added: NewModBody, changed: ModChangesBody }]]);

/** The bodies of a mod, with the game's limit for the length of the summary. */
function bodiesWith(summaryLengthMax: number): ModBodies {
  const known = bodies.get(summaryLengthMax);
  if (known) return known;
  const summary = Summary(summaryLengthMax);
  const made = {
    added: NewModBody.extend({ summary }),
    changed: ModChangesBody.extend({ summary: summary.optional() }),
  };
  bodies.set(summaryLengthMax, made);
  return made;
}

/** The game's limit. A caller who may not see the game gets the default, so that the limit does not reveal it. */
export async function bodiesIn(app: App, caller: Caller, gameId: number): Promise<ModBodies> {
  try {
    return bodiesWith((await requireGame(app.db, caller, gameId)).summary_length_max);
  } catch (error) {
    if (error instanceof ApiError) return bodiesWith(SUMMARY_LENGTH_MAX);
    throw error;
  }
}

/** `homepage` and `homepage_url` are the same field; an empty string clears it. */
export function toModChanges<B extends z.output<typeof ModChangesBody>>(
  body: B,
): Omit<B, 'homepage' | 'homepage_url'> & SentFields {
  const { homepage, homepage_url = homepage, ...rest } = body;
  return homepage_url === undefined ? rest : { ...rest, homepage_url: homepage_url || null };
}
