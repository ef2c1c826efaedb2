import { apiOf } from '#api';
import { calling } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';
import { ASSIGNMENT, PLAN } from './fields.ts';

export async function load(event: PageServerLoadEvent) {
  return { plans: (await apiOf(event).call('GET /staff/plans')).data };
}

export const actions = {
  save: calling('PUT /staff/plans/{plan}', PLAN),
  assign: calling('PUT /staff/game-plans', ASSIGNMENT),
};
