export type ImageReason = 'type' | 'corrupt' | 'too-small' | 'too-large';

/** Why bytes are not taken as an image. The fault lies with the bytes, never with the service. */
export class ImageProblem extends Error {
  override readonly name = 'ImageProblem';
  readonly reason: ImageReason;

  constructor(reason: ImageReason, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}

/** More images wait to be decoded than will be in reasonable time; the same may succeed later. */
export class ImagesBusy extends Error {
  override readonly name = 'ImagesBusy';
}
