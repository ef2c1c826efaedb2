import { z } from 'zod';
import { PLATFORMS } from '../../platform/vocabulary/game-platforms.ts';

const Bits = (max: number) => z.int().min(0).max(max);
const Option = (...values: number[]) => z.literal(values);
const HexColor = z.string().regex(/^#[0-9a-fA-F]{6}$/);
const WebAddress = z.url({ protocol: /^https?$/ }).max(500);

const Theme = z
  .object({
    primary: HexColor,
    dark: HexColor,
    light: HexColor,
    success: HexColor,
    warning: HexColor,
    danger: HexColor,
  })
  .partial();

const OtherUrl = z.object({ label: z.string().min(1).max(30), url: WebAddress });

const GamePlatform = z.object({
  platform: z.enum(PLATFORMS),
  label: z.string().trim().max(50).default('').meta({ description: 'The name of the platform unless given.' }),
  moderated: z.boolean().default(false),
  locked: z.boolean().default(false),
});

const localised = { description: 'Localisable: with Content-Language it is stored as a translation.' };

const COUNT_MAX = 2_147_483_647;
const Count = z.int().min(0).max(COUNT_MAX);

const isWebAddress = (text: string) => WebAddress.safeParse(text).success;

const fields = {
  name: z.string().trim().min(1).max(80).meta(localised),
  name_id: z
    .string()
    .regex(/^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$/u)
    .min(3)
    .max(80),
  summary: z.string().trim().max(250).meta(localised),
  instructions: z.string().max(20_000).meta(localised),
  instructions_url: z
    .string()
    .max(500)
    .refine((text) => text === '' || isWebAddress(text), { params: { rule: 'url' } })
    .meta({ description: 'Empty for none.' }),
  ugc_name: z.string().trim().min(1).max(20).meta(localised),
  token_name: z.string().trim().min(1).max(20),
  presentation_option: Option(0, 1),
  submission_option: Option(0, 1),
  dependency_option: Option(0, 1, 2, 3),
  curation_option: Option(0, 1, 2),
  profanity_option: Option(0, 1, 2, 3),
  community_options: Bits(131_071).meta({
    description:
      'Bits: 1 comments, 2 guides, 4 pinned, 8 and 16 shown, 32 may change status, 64 previews, 128 preview address, 256 negative ratings, 512 editable on the web, 1024 dependencies, 2048 comments of guides, 8192 collections, 16384 comments of collections',
  }),
  api_access_options: Bits(15),
  maturity_options: Option(0, 1, 2),
  limit_collection_mods: z
    .int()
    .min(0)
    .max(10_000)
    .meta({ description: 'How many mods a collection may hold; 0 for the usual 100.' }),
  takedown_reports: z.int().min(0).max(10_000).meta({
    description: 'How many people report a mod or guide before it is hidden until the team has looked; 0 for never.',
  }),
  monetization_options: Bits(31).meta({ description: 'For administrators.' }),
  revenue_options: Count.meta({ description: 'For administrators.' }),
  max_stock: Count.meta({ description: 'For administrators.' }),
  cloud_cooking_status: Bits(6).meta({ description: 'For those who run the site.' }),
  service_features: Count.meta({ description: 'For those who run the site.' }),
  theme: Theme,
  other_urls: z.array(OtherUrl).max(10),
  platforms: z.array(GamePlatform).max(PLATFORMS.length),
};

/** What may be set by whom is asked by the rules. Anything not listed here is not taken from a request. */
export const GameChangesBody = z
  .object({ status: Option(0, 1).meta({ description: '0 not accepted, 1 accepted' }), ...fields })
  .partial();

/** The command of the operator sets this besides, and nobody does over the API. */
export const OperatorChangesBody = GameChangesBody.extend({
  summary_length_max: z.int().min(200).max(2_000).optional(),
});

const { name, summary, cloud_cooking_status: _cooking, service_features: _features, ...others } = fields;

/** A new game is as its team wishes, but for what those who run the site decide. */
export const NewGameBody = z.object({ name, summary: summary.min(1), ...z.object(others).partial().shape });
