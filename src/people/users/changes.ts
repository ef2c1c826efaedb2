import { z } from 'zod';
import { LANGUAGES } from '../../platform/localisation/languages.ts';
import { PRIVACY_MAX } from './profile.ts';

const NAME_MAX = 50;
const TEXT = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u;

function isTimezone(text: string): boolean {
  try {
    return text === '' || Boolean(new Intl.DateTimeFormat('en', { timeZone: text }));
  } catch {
    return false;
  }
}

const isDate = (text: string): boolean => {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
};

/** The fields that users may change of their own account. */
export const ProfileBody = z
  .object({
    username: z.string().trim().min(3).max(NAME_MAX).regex(TEXT),
    name_id: z
      .string()
      .regex(/^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$/u)
      .min(3)
      .max(NAME_MAX)
      .meta({ description: 'The name in profile addresses.' }),
    language: z.enum(LANGUAGES),
    timezone: z
      .string()
      .max(64)
      .refine(isTimezone)
      .meta({ description: 'As in the tz database, such as `Europe/Berlin`; empty for none.' }),
    country: z
      .string()
      .regex(/^([A-Z]{2})?$/)
      .meta({ description: 'ISO 3166-1 alpha-2; empty for none.' }),
    privacy_options: z
      .int()
      .min(0)
      .max(PRIVACY_MAX)
      .meta({ description: 'Bits: 1 hides when the user was online, 2 hides the profile from others.' }),
    birth_date: z
      .string()
      .regex(/^\d{4}-\d{2}-\d{2}$/)
      .refine(isDate)
      .meta({ description: 'YYYY-MM-DD. It can be set once and is not shown to anyone else.' }),
    mature_content: z.boolean().meta({ description: 'Whether the user wants mature content; from 18 years on.' }),
  })
  .partial();
