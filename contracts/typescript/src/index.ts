export { SseDecoder, type SseMessage, sseMessages } from "./sse.ts";
export * from "./generated/gns3-chat.ts";
