import { filesOf, secondsOf, textOf } from './forms.ts';

const COMMENTS = 2_048;
export const GUIDE_FIELDS = ['name', 'summary', 'description', 'tags', 'logo', 'name_id', 'date_live', 'status'];

/** The fields of a guide that its form has. */
export function guideFrom(form: FormData) {
  const [logo] = filesOf(form, 'logo');
  const seconds = secondsOf(form, 'date_live');
  const nameId = textOf(form, 'name_id');
  return {
    name: textOf(form, 'name') ?? '',
    summary: textOf(form, 'summary') ?? '',
    description: textOf(form, 'description') ?? '',
    tags: (textOf(form, 'tags') ?? '')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    status: textOf(form, 'status') === '0' ? (0 as const) : (1 as const),
    community_options: form.has('comments') ? (COMMENTS as 2048) : (0 as const),
    ...(nameId && { name_id: nameId }),
    ...(seconds > 0 && { date_live: seconds }),
    ...(logo && { logo }),
  };
}
