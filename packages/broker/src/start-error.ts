/** Why a broker could not start: one line for the user that names the thing and what changes it, and the exit code of the binary. */

/** 1: the start failed; 3: the disk failed. */
export type StartExitCode = 1 | 3

export class StartError extends Error {
  override readonly name = 'StartError'
  constructor(
    message: string,
    readonly exitCode: StartExitCode = 1,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
