import type { Field } from '#components/dashboard/fields.ts';

const position: Field = { name: 'position', kind: 'text', max: 50 };

/** Members invite up to their own level. */
export const inviting = (level: number): readonly Field[] => [
  { name: 'email', kind: 'email', required: true },
  { name: 'level', kind: 'radio', options: [1, 4, 8].filter((each) => each <= level) },
  position,
];

export const CHANGE: readonly Field[] = [
  { name: 'team_member_id', kind: 'id' },
  { name: 'level', kind: 'choice', options: [1, 4, 8] },
  position,
];
