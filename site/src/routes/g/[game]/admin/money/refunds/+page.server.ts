import { calling } from '#components/dashboard/actions.ts';
import { REFUND } from './fields.ts';

export const actions = { refund: calling('POST /games/{game_id}/purchases/{purchase_id}/refund', REFUND) };
