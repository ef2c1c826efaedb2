import type { App } from '../../context.ts';
import { REMOVE_UNUSED_IMAGE } from '../../images/images.ts';
import type { JobHandler } from '../../jobs/worker.ts';
import { removeUnusedImage } from './media.ts';

export const gameJobs: readonly JobHandler<App>[] = [
  { kind: REMOVE_UNUSED_IMAGE, run: (app, { folder }: { folder: string }) => removeUnusedImage(app, folder) },
];
