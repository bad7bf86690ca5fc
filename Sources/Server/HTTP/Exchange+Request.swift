import CMicroHTTPD
import Glibc
import Synchronization

// How a request is read and handed over. For the connection's thread.
extension Exchange {
    /// The head is there: refuse at once, or read the body.
    func takeHead(method name: String) -> MHD_Result {
        hasHead = true
        method = HTTPMethod(name)
        head = RequestHead.read(connection)
        // Where a request ends is not known if its headers read two ways: nothing after it counts.
        if let problem = head.refusal(core.limits) { return refuse(problem, readingBody: false) }
        if let problem = targetRefusal() { return refuse(problem, readingBody: true) }
        socket.wait(for: .body, until: monotonicMilliseconds() + core.limits.bodyMilliseconds)
        if let length = head.contentLength, length > 0 {
            // Up to 64 KiB on the client's word; beyond that memory follows what has arrived.
            body.reserveCapacity(min(length, 64 << 10))
        }
        return .YES
    }

    private func targetRefusal() -> Problem? {
        let limits = core.limits
        guard target.utf8.count <= limits.targetBytes else {
            return Problem(
                .targetTooLong, detail: "The target is longer than \(limits.targetBytes) bytes.")
        }
        do throws(RequestTarget.Fault) {
            let parts = try RequestTarget(target, limits: limits)
            path = parts.path
            query = parts.query
        } catch {
            return Problem(fault: error)
        }
        bodyLimit = core.bodyLimit(method, path)
        if let length = head.contentLength, length > bodyLimit { return bodyTooLarge() }
        return nil
    }

    private func bodyTooLarge() -> Problem {
        Problem(
            .bodyTooLarge, detail: "The body is larger than the \(bodyLimit) bytes allowed here.")
    }

    /// Answers at once if nothing is under way behind the head, or too much to read; else reads
    /// and drops the body first. A client that is still sending would lose the answer to the
    /// reset that closing a socket with unread bytes causes.
    private func refuse(_ problem: Problem, readingBody: Bool) -> MHD_Result {
        let length = head.contentLength ?? 0
        if !readingBody || length == 0 || head.expectsContinue
            || length > core.limits.discardedBytes
        {
            var response = problem.response
            response.closesConnection = true
            return send(response)
        }
        refusal = problem.response
        socket.wait(for: .body, until: monotonicMilliseconds() + core.limits.bodyMilliseconds)
        return .YES
    }

    /// One piece of the body.
    func takeBody(_ piece: UnsafeRawBufferPointer) -> MHD_Result {
        if refusal == nil, piece.count <= bodyLimit - body.count {
            body.append(contentsOf: piece)
            return .YES
        }
        if refusal == nil {
            refusal = bodyTooLarge().response
            body = []
        }
        // A chunked body tells no length: past the limit of what we throw away, the socket closes.
        discarded += piece.count
        return discarded <= core.limits.discardedBytes ? .YES : .NO
    }

    /// The request is there whole, or its answer is.
    func takeEnd() -> MHD_Result {
        if !isDispatched {
            isDispatched = true
            began = monotonicNanoseconds()
            if let refusal { return send(refusal) }
            guard core.enter() else { return send(Problem(.shuttingDown).response) }
            isEntered = true
            socket.wait(for: .handling, until: .max)
            dispatch()
            if suspendUnlessAnswered() { return .YES }
        }
        // Resumed. In the rare case of an answer that arrived while we were suspending, its
        // thread is between two stores; that is a matter of nanoseconds.
        while true {
            if let response = takeResponse() { return send(response) }
            sched_yield()
        }
    }

    private func dispatch() {
        let request = HTTPRequest(
            method: method, path: path, query: query, authorization: head.authorization,
            contentType: head.contentType, body: body)
        body = []
        core.handler(request, Responder(self))
    }

    /// Gives the answer to libmicrohttpd.
    func send(_ answer: HTTPResponse) -> MHD_Result {
        socket.wait(
            for: .answer, until: monotonicMilliseconds() + core.limits.answerMilliseconds)
        let response = answer.body.withUnsafeBytes { body in
            MHD_create_response_from_buffer(
                body.count, UnsafeMutableRawPointer(mutating: body.baseAddress),
                .RESPMEM_MUST_COPY)
        }
        guard let response else { return .NO }
        defer { MHD_destroy_response(response) }
        MHD_add_response_header(response, "Content-Type", answer.contentType)
        for header in answer.headers {
            MHD_add_response_header(response, header.name, header.value)
        }
        if answer.closesConnection || core.isDraining.load(ordering: .relaxed) {
            MHD_add_response_header(response, "Connection", "close")
        }
        let result = MHD_queue_response(connection, UInt32(answer.status), response)
        if let observer = core.observer {
            let spent = began == 0 ? 0 : monotonicNanoseconds() - began
            observer(
                HTTPServer.Observation(tag: tag, status: answer.status, nanoseconds: spent))
        }
        return result
    }
}
