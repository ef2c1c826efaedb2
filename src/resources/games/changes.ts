import { z } from 'zod';
import { PLATFORMS } from '../../http/targeting.ts';

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
  label: z.string().max(50).default(''),
  moderated: z.boolean().default(false),
  locked: z.boolean().default(false),
});

const localised = { description: 'Localisable: with Content-Language it is stored as a translation.' };

/** What a game's team may set. Anything not listed here is not taken from a request. */
export const GameChangesBody = z
  .object({
    status: Option(0, 1).meta({ description: '0 not accepted, 1 accepted' }),
    name: z.string().trim().min(1).max(80).meta(localised),
    name_id: z
      .string()
      .regex(/^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$/u)
      .min(3)
      .max(80),
    summary: z.string().trim().max(250).meta(localised),
    instructions: z.string().max(20_000).meta(localised),
    instructions_url: WebAddress,
    ugc_name: z.string().trim().min(1).max(20).meta(localised),
    token_name: z.string().trim().min(1).max(20),
    presentation_option: Option(0, 1),
    submission_option: Option(0, 1),
    dependency_option: Option(0, 1, 2, 3),
    curation_option: Option(0, 1, 2),
    profanity_option: Option(0, 1, 2, 3),
    community_options: Bits(131_071),
    api_access_options: Bits(15),
    maturity_options: Option(0, 1, 2),
    limit_collection_mods: z.int().min(0).max(10_000),
    theme: Theme,
    other_urls: z.array(OtherUrl).max(10),
    platforms: z.array(GamePlatform).max(PLATFORMS.length),
  })
  .partial();
