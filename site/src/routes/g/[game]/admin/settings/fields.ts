import type { Field } from '#components/dashboard/fields.ts';

/** The settings of a game, by group. The texts explain every field and what each option does. */
export const GROUPS: readonly { readonly name: string; readonly level: number; readonly fields: readonly Field[] }[] = [
  {
    name: 'about',
    level: 4,
    fields: [
      { name: 'name', kind: 'text', required: true, max: 80 },
      { name: 'name_id', kind: 'text', required: true, max: 80 },
      { name: 'summary', kind: 'long', required: true },
      { name: 'ugc_name', kind: 'text', required: true, max: 20 },
      { name: 'instructions', kind: 'long' },
      { name: 'instructions_url', kind: 'url', max: 500 },
      { name: 'other_urls', kind: 'lines' },
    ],
  },
  {
    name: 'mods',
    level: 4,
    fields: [
      { name: 'presentation_option', kind: 'radio', options: [0, 1] },
      { name: 'submission_option', kind: 'radio', options: [0, 1] },
      { name: 'curation_option', kind: 'radio', options: [0, 1, 2] },
      { name: 'dependency_option', kind: 'radio', options: [0, 1, 2, 3] },
      { name: 'maturity_options', kind: 'radio', options: [0, 1, 2] },
      { name: 'profanity_option', kind: 'radio', options: [0, 1, 2, 3] },
      { name: 'takedown_reports', kind: 'number' },
      { name: 'limit_collection_mods', kind: 'number' },
    ],
  },
  {
    name: 'community',
    level: 4,
    fields: [
      {
        name: 'community_options',
        kind: 'bits',
        options: [1, 256, 2, 2048, 8192, 16384, 1024, 512, 64, 128, 4, 8, 16, 32],
      },
    ],
  },
  { name: 'access', level: 4, fields: [{ name: 'api_access_options', kind: 'bits', options: [1, 2, 4, 8] }] },
  {
    name: 'money',
    level: 8,
    fields: [
      { name: 'monetization_options', kind: 'bits', options: [1, 2, 4, 8, 16] },
      { name: 'revenue_options', kind: 'bits', options: [4] },
      { name: 'token_name', kind: 'text', required: true, max: 20 },
      { name: 'max_stock', kind: 'number' },
    ],
  },
];

/** Only the site staff change these, and administrators where the game allows it. */
export const STAFF_FIELDS: readonly Field[] = [
  { name: 'status', kind: 'radio', options: [0, 1] },
  { name: 'cloud_cooking_status', kind: 'number' },
  { name: 'service_features', kind: 'number' },
];
