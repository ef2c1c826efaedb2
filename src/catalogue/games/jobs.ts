import type { App } from '../../platform/app.ts';
import { REMOVE_UNUSED_IMAGE } from '../../platform/images/images.ts';
import type { JobHandler } from '../../platform/jobs/worker.ts';
import { removeUnusedImage } from './media.ts';

export const gameJobs: readonly JobHandler<App>[] = [
  {
    kind: REMOVE_UNUSED_IMAGE,
    byAge: true,
    run: (app, { folder }: { folder: string }) => removeUnusedImage(app, folder),
  },
];
