export type ImageReason = 'type' | 'corrupt' | 'too-small' | 'too-large';

/** The reason for refusing an image. Always a fault of its bytes, never of the service. */
export class ImageProblem extends Error {
  override readonly name = 'ImageProblem';
  readonly reason: ImageReason;

  constructor(reason: ImageReason, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}

/** The queue for decoding is too long; a retry may succeed later. */
export class ImagesBusy extends Error {
  override readonly name = 'ImagesBusy';
}
