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
  label: z.string().trim().max(50).default('').meta({ description: 'The platform’s own name by default.' }),
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
    .meta({ description: 'The most mods of a collection; 0 for the default of 100.' }),
  takedown_reports: z.int().min(0).max(10_000).meta({
    description:
      'The number of reports after which a mod or guide is hidden until the team has reviewed it; 0 for never.',
  }),
  monetization_options: Bits(31).meta({ description: 'For administrators.' }),
  revenue_options: Count.meta({ description: 'Bits: 4 buyers may resell paid mods. For administrators.' }),
  max_stock: Count.meta({ description: 'For administrators.' }),
  cloud_cooking_status: Bits(6).meta({ description: 'Only the site staff can set it.' }),
  service_features: Count.meta({ description: 'Only the site staff can set it.' }),
  theme: Theme,
  other_urls: z.array(OtherUrl).max(10),
  platforms: z.array(GamePlatform).max(PLATFORMS.length),
};

/** The rules check who may set which field. A request cannot set anything that is not listed here. */
export const GameChangesBody = z
  .object({ status: Option(0, 1).meta({ description: '0 not accepted, 1 accepted' }), ...fields })
  .partial();

/** Fields that only the operator's command can set, not the API. */
export const OperatorChangesBody = GameChangesBody.extend({
  summary_length_max: z.int().min(200).max(2_000).optional(),
});

const { name, summary, cloud_cooking_status: _cooking, service_features: _features, ...others } = fields;

/** All fields of a game except those that only the site staff set. */
export const NewGameBody = z.object({ name, summary: summary.min(1), ...z.object(others).partial().shape });
