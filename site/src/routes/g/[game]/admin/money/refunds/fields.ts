import { type Field, idOf } from '#components/dashboard/fields.ts';

export const REFUND: readonly Field[] = [idOf('purchase_id'), { name: 'reason', kind: 'text', required: true }];
